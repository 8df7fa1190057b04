"""Measures a real host at several widths and picks one: the method behind `manyhands tune`."""
