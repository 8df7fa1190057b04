"""Agent programs as hosts: what each is started with, and what its output means."""
