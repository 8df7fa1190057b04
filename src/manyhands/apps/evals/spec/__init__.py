"""An eval as its spec file states it: arms, cases, scorers, and the order in which they run."""
