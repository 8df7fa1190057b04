"""Limits of other projects, measured beside the clutch on simulated hosts. Production never uses them."""
