"""The command line: thin, one function a command."""
