"""Beads as a backlog. It is read in any state, and written so that no other line changes."""
