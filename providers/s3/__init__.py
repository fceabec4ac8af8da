"""Buckets of any S3-compatible service, for people's files."""
