"""One file an outside system; memory.py holds a twin of every port."""
