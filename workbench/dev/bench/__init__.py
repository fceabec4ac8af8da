"""What the simulator's page does to the assistant behind it: follow turns, move time."""
