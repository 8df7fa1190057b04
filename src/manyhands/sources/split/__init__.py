"""A code base made into a tree of subplans whose leaves fit a budget of tokens and change together."""
