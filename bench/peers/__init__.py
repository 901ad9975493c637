"""Other trackers with the same tickets and requests (bench/RESULTS.md, "Peers")."""
