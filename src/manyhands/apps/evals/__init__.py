"""A/B comparisons of agents or prompts, run on the engine."""
