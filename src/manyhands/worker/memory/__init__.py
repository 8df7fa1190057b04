"""What models and batches take, learned from those that ran, and how much there is to take."""
