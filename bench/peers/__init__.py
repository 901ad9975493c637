"""Other trackers, set up and asked the same (docs/operate/performance.md, "Peers")."""
