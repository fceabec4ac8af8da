"""`python -m onevalet`."""

from onevalet.cli.runner import in_sentences


def start() -> None:
    """Run the command line, whose groups of commands the abilities make."""
    from onevalet.cli.main import main

    main()


if __name__ == "__main__":
    in_sentences(start)
