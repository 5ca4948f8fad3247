"""The engine's side of a swap. Runs inside the engine's workers: torch and the standard library."""
