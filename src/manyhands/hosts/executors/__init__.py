"""Executors: each starts attempts on one type of host and says how they ended."""
