"""Beads as a backlog: read in any state it is found in, written so that nobody else's line changes."""
