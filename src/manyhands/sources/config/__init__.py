"""The configuration: one immutable value, every part of which can say where it came from."""
