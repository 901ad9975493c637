"""Reproducible benchmarks. bench/RESULTS.md has the commands and the results."""
