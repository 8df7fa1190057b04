"""Decides which models make room for another."""
