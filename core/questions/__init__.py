"""Questions with choices: asked, said, pressed, typed, and told afterwards."""
