"""The model worker: one process that hosts several models and sizes its batches from the memory that is free.

`planning/planner` is a pure function of its events, like the core. It is told that items arrived, batches ended and
memory was read. It answers with batches to run and models to load or evict.

- `packing/` chooses which items go together.
- `memory/` predicts how much memory a batch takes.
- `residency/` chooses which model is evicted.
- `devices/` reads memory.
- `loop/` carries out what the planner decides.
- `backends/` computes with onnxruntime, torch or llama.cpp.
- `http/` serves the worker.
"""
