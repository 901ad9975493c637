"""Other trackers, set up and asked the same: `uv run python -m bench.peers` (docs/performance.md, "Peers")."""
