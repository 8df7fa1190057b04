"""Splits a code base into a tree of subplans. The files of a leaf fit a token budget and change together."""
