"""One interface to the memory of devices. Reading it never opens a CUDA context."""
