"""The planner: one state machine over packing, memory and residency. Events in, decisions out."""
