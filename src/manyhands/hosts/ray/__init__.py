"""Attempts on the nodes of a Ray cluster.

`ray_executor` is what the dispatcher sees, `driver_link` keeps a driver process running, `driver` is that process,
`cluster` is all that we ask of Ray, and `carrier` is the actor on a node with a shell and a Python executor of its
own. `node_placement`, `scaling` and `pace` are pure. `node_lease` is why the claims of a dead node may become free.
The dispatcher itself never imports Ray.
"""
