"""Many rolls: run them in worker processes, keep them in a folder, read them back."""
