"""Attempts on the nodes of a Ray cluster: Ray finds the node, an actor there starts the process."""
