"""What is followed from commit to commit: `asv run --quick --python=same` measures the working tree once."""
