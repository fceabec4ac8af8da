"""Buckets of any S3-compatible service, where people's files may lie."""
