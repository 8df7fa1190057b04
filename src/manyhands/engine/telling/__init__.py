"""Tells people what happens while nobody looks: on the desktop, to a webhook, or by a command."""
