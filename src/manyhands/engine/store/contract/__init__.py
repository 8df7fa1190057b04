"""What every store promises, and the form in which they all keep events."""
