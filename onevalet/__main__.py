"""`python -m onevalet`."""

from onevalet.cli.main import main

if __name__ == "__main__":
    main()
