"""Raises the number of files that this process may have open: every attempt needs a few of them."""

import resource

#: Enough for 10,000 attempts in flight. Much more would slow down programs that close all they may have open.
DESCRIPTORS_WANTED = 65_536


def raise_descriptor_limit() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS_WANTED if hard == resource.RLIM_INFINITY else min(DESCRIPTORS_WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
