"""Plays a backlog on simulated hosts under virtual time, with the code that runs live.

`scenario` reads what to play, and `scenario_trial` plays it and compares it with fixed widths. `streamed_backlog` and
`load_trial` are for more tasks than fit in memory. `spent` samples the stack to tell where processor time went, so that
the core needs no clock for it.
"""
