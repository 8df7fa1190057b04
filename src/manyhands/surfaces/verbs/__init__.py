"""What can be asked of a store and wanted of it, as values. The command line prints them, HTTP and MCP send them."""
