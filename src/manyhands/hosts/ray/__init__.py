"""Attempts on the nodes of a Ray cluster.

The dispatcher sees `ray_executor`. `driver_link` keeps a driver process running, and `driver` is that process.
`cluster`
has all calls of Ray. `carrier` is the actor on a node, with its own shell and Python executors. `node_placement`,
`scaling` and `pace` are pure. `node_lease` makes it safe to release the claims of a dead
node. The dispatcher itself never imports Ray.
"""
