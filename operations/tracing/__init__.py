"""Traces by OpenTelemetry, imported only if an operator names a collector."""
