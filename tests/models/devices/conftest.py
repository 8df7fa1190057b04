"""Fixtures of the devices' tests."""

from models.cuda_in_reach import cuda_in_reach  # noqa: F401
