"""Executors: each starts attempts on one type of host and reports how they ended."""
