"""The model worker: one process that hosts several models, sized from the memory that is free.

`planning/planner` is a function of its events like the core: items arrive, batches end, memory is read; batches to
run and models to load or evict come out. `packing/` says which items go together, `memory/` what a batch takes,
`residency/` which model makes way, `devices/` reads memory. `loop/` carries out what the planner decides,
`backends/` computes (onnxruntime, torch, llama.cpp), `http/` serves it.
"""
