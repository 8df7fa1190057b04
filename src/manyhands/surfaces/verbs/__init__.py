"""What can be asked of a store and wanted of it, as values: the command line prints them, the MCP server sends them."""
