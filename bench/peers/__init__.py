"""Other trackers, set up and asked the same: `uv run python -m bench.peers` (docs/operate/performance.md, "Peers")."""
