"""Scores what a trial left behind. A scorer that breaks loses its own score and no other."""
