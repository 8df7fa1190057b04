"""The story of a run, from its journal."""
