"""A tree of subplans to look at: as text, for Graphviz, and as a page."""
