"""`make demo`: a fleet changes its answers under traffic, and survives what people fear."""
