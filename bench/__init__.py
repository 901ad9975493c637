"""Reproducible benchmarks; docs/operate/performance.md says how to run them and what came out."""
