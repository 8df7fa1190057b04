"""The places results are delivered to, one file each."""
