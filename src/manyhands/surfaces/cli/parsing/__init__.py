"""A command line declared by functions: their parameters are what it takes, their docstrings are its help.

It is our own and small because a general library costs more CPU time to load than most commands take to answer.
"""
