"""What a running dispatcher shows and takes over HTTP, on this machine alone unless told otherwise.

HTTP is served in the dispatcher's own loop, so nothing needs a lock. `picture/` is pure over the book: a snapshot,
and what each batch changed. `feed` makes frames of it, each encoded once for all followers, and `event_stream`
sends them. `endpoints` is the table of all addresses, from which `openapi` draws the description. `security` stands
before everything. What needs a whole journal runs in a process of its own (`offline`).
"""
