"""The part of the model worker that acts: it prepares, computes and answers as the planner decides."""
