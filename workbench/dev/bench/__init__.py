"""The simulator page's access to the assistant behind it: following turns, moving time."""
