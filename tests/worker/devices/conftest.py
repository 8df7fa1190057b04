"""Fixtures for the tests of the devices."""

from worker.cuda_in_reach import cuda_in_reach  # noqa: F401
