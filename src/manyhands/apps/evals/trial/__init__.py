"""One trial: its tasks, its files, and what became of it."""
