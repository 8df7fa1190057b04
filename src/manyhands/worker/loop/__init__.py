"""The doing half of the model worker: prepares, computes and answers, as the planner decides."""
