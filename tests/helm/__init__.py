"""Helm, and the chart as it renders: `python -m helm build` builds it once, `python -m helm goldens` writes the goldens anew.

No settings of the user's are read, and no cluster is spoken to but one that is given.
"""
