"""Joins a Ray cluster. If this machine is not a node, it becomes one without cores while this process lives.

Ray's drivers talk to the cluster through a node on their own machine.
"""

import ctypes
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any

import psutil

#: The namespace of everything that is ours on a cluster.
NAMESPACE = "manyhands"
#: Object memory of a node without work: the minimum that Ray accepts.
OBJECT_STORE_BYTES = 80_000_000
_ANSWERS_WITHIN_S = 10.0
_JOINED_WITHIN_S = 60.0
_LOOK_AGAIN_S = 0.2
_PR_SET_PDEATHSIG = 1


def connect(address: str) -> None:
    """Connect to a running cluster, or ("local") start one that ends with this process."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no data leaves the machine unless the user asks for it
    import ray

    if address == "auto":
        address = _found_here()
    if address != "local":
        join(address)
    own: dict[str, Any] = {"include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES}
    ray.init(
        address=address,
        namespace=NAMESPACE,
        log_to_driver=False,
        logging_level="error",
        **(own if address == "local" else {}),
    )


def join(address: str) -> None:
    """Make this machine a node. Raises OSError if nothing answers at the address, or no node starts here."""
    # Ray itself tries for a minute and gives a less useful message.
    host, _, port = address.rpartition(":")
    with socket.create_connection((host.strip("[]"), int(port)), _ANSWERS_WITHIN_S) as tried:
        if tried.getpeername()[0] in _addresses_here():
            _use_token()
    if _is_node(address):
        return
    argv = [sys.executable, "-c", "from ray.scripts.scripts import main; main()", "start", f"--address={address}"]
    argv += ["--num-cpus=0", "--num-gpus=0", f"--object-store-memory={OBJECT_STORE_BYTES}", "--block"]
    node = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=sys.stderr, preexec_fn=_die_with_parent)
    give_up_at = time.monotonic() + _JOINED_WITHIN_S
    while not _is_node(address):
        if node.poll() is not None or time.monotonic() > give_up_at:
            node.terminate()
            raise OSError(f"this machine could not become a node of it; run `ray start --address={address}` to see why")
        time.sleep(_LOOK_AGAIN_S)


def _found_here() -> str:
    """The address of the cluster that this machine belongs to. Ray would wait for one that is gone."""
    from ray._private.services import canonicalize_bootstrap_address

    try:
        address: str | None = canonicalize_bootstrap_address("auto")
    except ConnectionError:
        address = None
    if address is None:
        raise OSError("this machine belongs to no cluster; join one with `ray start`")
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWERS_WITHIN_S).close()
    except OSError as error:
        raise OSError(f"the last cluster of this machine does not answer at {address} ({error})") from None
    return address


def _use_token() -> None:
    """Use the token of this machine, unless RAY_AUTH_MODE says otherwise.

    Ray does the same for a cluster that it finds here. Other clusters may not be meant to see the token.
    """
    try:
        from ray._private.authentication.authentication_token_setup import maybe_enable_token_auth_if_token_available
    except ImportError:  # an earlier version, which needs the variable
        return
    # Ray would warn about it, in the log where people look for the reason why a driver died.
    logging.getLogger(maybe_enable_token_auth_if_token_available.__module__).setLevel(logging.ERROR)
    maybe_enable_token_auth_if_token_available(warn_if_disabled=False)


def _is_node(address: str) -> bool:
    from ray._raylet import GcsClient  # type: ignore[attr-defined,unused-ignore]

    here = _addresses_here()
    nodes = GcsClient(address=address).get_all_node_info(timeout=_ANSWERS_WITHIN_S)
    return any(node.node_manager_address in here for node in nodes.values() if node.state == 0)


def _addresses_here() -> set[str]:
    return {one.address for of_one in psutil.net_if_addrs().values() for one in of_one}


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
