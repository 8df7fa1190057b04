"""The story of `manyhands demo`: a small repository, a plan, and programs that stand in for agents and a model.

Everything runs on this machine and costs nothing. The rest of manyhands does not know that it is a demo.
"""
