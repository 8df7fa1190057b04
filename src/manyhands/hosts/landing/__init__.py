"""Worktrees and landing: a task works in a git worktree of its own, and its work becomes a commit on the target.

`touchdown` takes finished work to the target: commit, wait for its turn, merge without a working tree, check,
publish. The core knows nothing of this: a conflict is an ending. Landing twice is ruled out by looking for the
task's trailer on the target since the base of its earlier attempts.
"""
