"""Reproducible benchmarks; docs/performance.md says how to run them and what came out."""
