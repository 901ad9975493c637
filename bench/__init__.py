"""Reproducible benchmarks; bench/RESULTS.md says how to run them and what came out."""
