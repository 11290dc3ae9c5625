"""What an op does to a batch size, to dim names and to keys: no torch, no mypy.

See the README beside this file for who reads these rules and how to add one.
"""
