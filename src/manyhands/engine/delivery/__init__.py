"""Delivers results to where the routes of their apps say.

A letter is posted by the event that ends its task, so it is on disk in the same transaction. `delivering` carries
letters to `sinks/`, and `sink_queue` says which may go now: in order for each key, a few at once, one at a time
while the sink is down.
"""
