"""Hosts that exist only in virtual time: one file for each kind of host, one interface for all."""
