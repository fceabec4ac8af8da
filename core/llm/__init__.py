"""Models as the spine knows them: requests, answers, prices; `providers/models` makes the calls."""
