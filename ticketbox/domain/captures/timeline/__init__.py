"""The timeline of a capture: its streams merged by time, and the part of it that fits a budget."""
