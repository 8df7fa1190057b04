"""Fixtures of the devices' tests."""

from worker.cuda_in_reach import cuda_in_reach  # noqa: F401
