"""Worktrees and landing: a task works in its own git worktree, and its work becomes a commit on the target.

`touchdown` brings finished work to the target: commit, wait for its turn, merge without a working tree, check,
publish. The core knows nothing about this: a conflict is an ending. A task never lands twice, because we look for
its trailer on the target, from the base of its earlier attempts on.
"""
