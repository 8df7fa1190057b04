"""Where work and settings come from: the config, plans, Beads and split code bases."""
