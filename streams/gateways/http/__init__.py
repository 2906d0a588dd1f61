"""The HTTP gateway: a thin client of the topics for those who speak HTTP."""
