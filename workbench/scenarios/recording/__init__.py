"""Records events on the simulator's page as a scenario: acts, their results, and the model's answers."""
