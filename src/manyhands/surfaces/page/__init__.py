"""The dashboard: a static folder that the API serves as it is, and its form as one file."""
