"""What can be asked of a store, and what can be done to it: one function for each verb.

The command line, the HTTP API and the MCP server all call these functions. So every surface makes the same checks,
raises the same errors, and answers with the same fields. A verb looks at a `BookView`. A verb that changes something
returns a `Wanted`: the events to record and the answer to give.
"""
