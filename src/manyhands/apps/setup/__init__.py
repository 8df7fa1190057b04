"""The first steps: look at a directory and its machine, write a configuration and a plan, and find what is wrong.

Looking changes nothing: no program is started but `git`, `nvidia-smi` and `--version`, and no model is asked anything.
"""
