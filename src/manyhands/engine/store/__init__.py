"""Keeps the journal: in SQLite, in PostgreSQL, or in memory."""
