"""Backlogs that are neither plans nor Beads, read as issues: GitHub, and a directory of Markdown files."""
