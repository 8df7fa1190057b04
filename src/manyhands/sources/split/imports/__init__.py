"""Import ties: which file of a code base uses which, read from its sources one language at a time."""
