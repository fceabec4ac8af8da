"""The pages of all rooms: their one layout, style sheet, policy for content, and engine of templates."""
