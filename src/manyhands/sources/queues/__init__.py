"""Queues of other programs as backlogs: entries are held by a lease, and acknowledged when their tasks have ended."""
