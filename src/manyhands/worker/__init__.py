"""The model worker: one process that hosts several models, sized from the memory that is free."""
