"""The weather, from Open-Meteo."""
