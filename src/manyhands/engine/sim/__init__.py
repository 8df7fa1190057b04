"""Plays a backlog on simulated hosts under virtual time, with the code that runs live.

`scenario` reads what to play and `scenario_trial` plays it beside fixed widths. `streamed_backlog` and `load_trial`
are for more tasks than fit in memory, and `spent` tells where the processor's time went by looking at the stack, so
that the core needs no clock for it.
"""
