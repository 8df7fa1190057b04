"""What is built on the engine: serving backlogs, evals and tuning."""
