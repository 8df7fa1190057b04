"""The limits: one file each, and the parts of the clutch."""
