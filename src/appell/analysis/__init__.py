"""What can be said about a model or a system without running it."""
