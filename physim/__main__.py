"""`python -m physim`: the command line."""

from physim.cli.start import main

if __name__ == "__main__":  # worker processes of other libraries may import it under another name
    main()
