"""What the transfer core is tested with, on CPU and GPU alike.

Needs torch and the standard library only, so that it runs where nothing can be installed.
"""
