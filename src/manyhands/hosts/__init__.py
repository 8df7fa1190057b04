"""How attempts run: processes, functions, model servers, worktrees and clusters, and what hosts show of themselves."""
