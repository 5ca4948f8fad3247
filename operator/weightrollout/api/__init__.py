"""The words everyone shares: the resource's types, states, reasons and names.

Promise: plain data and pure functions. Nothing here does I/O, reads a clock or imports another
room. `crds/` is generated from here and never edited by hand.
"""
