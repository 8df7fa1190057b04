"""The live loop around the core, with its store, its deliveries and its simulator."""
