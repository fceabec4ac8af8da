"""What a call may cost, reserved before and settled after."""
