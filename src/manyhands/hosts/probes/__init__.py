"""Reads the state of hosts: each probe turns what a host reports about itself into a `Reading`."""
