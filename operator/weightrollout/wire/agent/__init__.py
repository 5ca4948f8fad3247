"""GENERATED from proto/ by proto/generate.py; never edited by hand."""
