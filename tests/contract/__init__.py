"""What every channel must do, run against each one's simulator."""
