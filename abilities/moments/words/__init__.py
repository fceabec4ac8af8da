"""The words of six languages around a moment: clocks, parts of a day, days, dates, spans and zones."""
