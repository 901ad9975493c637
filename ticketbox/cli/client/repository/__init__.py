"""What the command line reads from the git repository in the current folder (docs/use/command-line.md)."""
