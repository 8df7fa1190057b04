"""The planner: one state machine over packing, memory and residency. It takes events and returns decisions."""
