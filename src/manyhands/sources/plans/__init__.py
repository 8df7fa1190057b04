"""Plan files: read as a whole, checked, or refused as a whole."""
