"""The verbs of a store as tools for agents, over the Model Context Protocol.

Here `mcp` is the library; this package is `manyhands.surfaces.mcp`.
"""
