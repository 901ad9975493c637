"""Other trackers, set up and sent the same requests (bench/RESULTS.md, "Peers")."""
