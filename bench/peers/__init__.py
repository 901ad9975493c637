"""Other trackers, set up and asked the same (docs/performance.md, "Peers")."""
