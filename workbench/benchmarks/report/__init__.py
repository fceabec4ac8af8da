"""The results as JSON, as plots and as the page, with the reasons of what falls short."""
