"""The pure core: events in, commands out. It has no clock, no I/O, no randomness and no logging.

`Scheduler.handle(events)` takes everything that happened at once and returns decisions and commands.
`Scheduler.replay(events)` takes a journal. The scheduler alone changes the state, which is the `Book`. `values/`
has the values that all code uses, and `clutch/` finds widths.

What changes state: `scheduler`, `intake` (tasks come, wait, leave), `attempts` (an attempt's life), `families`,
`outbox`.

What decides a start: `starting`, `ready`, `obstacles`, `placement`, `preemption`, `rules`, `claims`.

What follows an ending: `retry`, `health`, `learning`. What explains and checks: `explain`, `invariants`,
`snapshot`, `graph`.
"""
