"""Which models are held in memory, and which make room for another."""
