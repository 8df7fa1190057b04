"""One interface to onnxruntime, torch and llama.cpp. Each library is imported only when a model needs it."""
