"""Hosts that exist only under virtual time: one file per family, one interface for all."""
