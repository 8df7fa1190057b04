"""The memory of devices behind one interface; read without ever opening a CUDA context."""
