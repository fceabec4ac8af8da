"""Records what happens on the simulator's page as a scenario: acts, what came of them, and the model's answers."""
