"""Workspaces of a task's own as git worktrees, and how what is done in them lands on a branch, one after another."""
