"""What a clone has besides the product: the simulator, `dev`, the demo model, scenarios and benchmarks."""
