"""Reads what people wrote. Every mistake is reported with its file, line, field, value and a hint."""
