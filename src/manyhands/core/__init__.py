"""The pure core: events in, commands out. No clock, no I/O, no randomness, no logging of its own."""
