"""How people and programs talk to manyhands: command line, HTTP, page, MCP and reviews."""
