"""Plays a backlog on simulated hosts under virtual time."""
