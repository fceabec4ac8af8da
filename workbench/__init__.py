"""The parts of a clone besides the product: simulator, `dev`, demo model, scenarios, benchmarks, makers of pages."""
