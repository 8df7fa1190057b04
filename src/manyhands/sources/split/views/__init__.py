"""Views of a tree of subplans: as text, for Graphviz, and as a page."""
