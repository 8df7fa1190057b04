"""What a running dispatcher shows and takes over HTTP, on this machine alone."""
