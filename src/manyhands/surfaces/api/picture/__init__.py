"""What the dispatcher's book looks like to a page: a snapshot, and the changes since. Pure; live and replayed alike."""
