"""The real dispatcher in virtual time: a loop, a journal, hosts and sinks that a seed can make fail."""
