"""How much memory and time batches take, learned from those that ran, and how much memory may be used."""
