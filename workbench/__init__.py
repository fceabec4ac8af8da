"""The parts of a clone besides the product: the simulator, `dev`, the demo model, scenarios and benchmarks."""
