"""Delivers the results of tasks where the routes of their apps say."""
