"""`python -m onevalet`."""

from onevalet.cli import main

if __name__ == "__main__":
    main()
