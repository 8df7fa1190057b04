"""Decides which items go together into a batch, and whose turn it is."""
