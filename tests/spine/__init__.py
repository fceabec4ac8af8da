"""All of it as four processes, with a thousand messages through it."""
