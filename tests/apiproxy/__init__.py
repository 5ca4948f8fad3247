"""A proxy in front of a real API server that lies, hangs and refuses by script, and counts what passes through it."""
