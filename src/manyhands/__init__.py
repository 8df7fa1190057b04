"""manyhands runs a backlog of AI-agent tasks as wide as your machines can bear, and no wider."""

__version__ = "0.1.0"
