"""A real S3 server on loopback (versitygw, built once from Go modules) and what tests put before it."""
