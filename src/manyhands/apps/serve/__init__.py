"""The dispatcher that people leave running: it watches backlogs, runs their tasks and writes the results back.

A `Desk` compares one backlog with its run whenever either changes. `reconcile` (backlog to run) and `write_back`
(run to Beads) are pure and idempotent, so a crash needs no memory of its own. An issue is claimed in its file
before its attempt starts.
"""
