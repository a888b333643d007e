"""`python -m physim`: the command line."""

from physim.cli.main import main

main()
