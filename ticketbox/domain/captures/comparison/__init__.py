"""Two captures compared: what differs between them, and the part of it that fits a budget."""
