"""The results as JSON, as plots and as the page, with the reasons for each shortfall."""
