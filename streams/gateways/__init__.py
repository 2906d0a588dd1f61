"""Ways in for callers: the Kafka client."""
