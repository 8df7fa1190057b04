"""What computes: one interface over onnxruntime, torch and llama.cpp, none of them imported before it is asked for."""
