"""From what a trial left behind to its scores. A scorer that breaks loses its own score and no other."""
