"""The images of this checkout, built here: `python -m images build` prints where they are, `lock` pins what goes into them.

With Docker where an engine answers, else with buildah on a base from Debian's archive. What is built is kept outside the
repository, in a folder named by all that goes in, so that the same sources are built once.
"""
