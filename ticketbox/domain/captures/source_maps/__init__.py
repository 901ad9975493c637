"""Source maps: from the positions of a bundle to those of the author's files (ECMA-426)."""
