"""The story of a run, as a function of its journal: `moments` notes decisions as they pass, `telling` reads the rest
from the book.
"""
