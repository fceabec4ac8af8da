"""Questions with choices: their wording, cards, answers and outcomes."""
