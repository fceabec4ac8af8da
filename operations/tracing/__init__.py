"""Traces by OpenTelemetry, imported only where an operator names a collector."""
