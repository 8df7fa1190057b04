"""A store's verbs for agents, over the Model Context Protocol. Here `mcp` is the library, `manyhands.mcp` is this."""
