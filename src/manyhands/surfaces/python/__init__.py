"""The engine for Python programs and notebooks: map a function over items, submit prompts and agents."""
