"""Attempts on the nodes of a Ray cluster.

`ray_executor` is what the dispatcher sees, `driver_link` keeps a driver process running, `driver` is that process,
`cluster` has everything that we ask of Ray, and `carrier` is the actor on a node, with its own shell and Python
executors. `node_placement`, `scaling` and `pace` are pure. `node_lease` makes it safe to release the claims of a dead
node. The dispatcher itself never imports Ray.
"""
