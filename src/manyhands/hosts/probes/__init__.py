"""Where the state of hosts is read: each probe turns what a host shows of itself into a `Reading`."""
