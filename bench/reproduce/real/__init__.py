"""Whether captures of real applications become proofs: each is installed, broken by a proxy, captured and verified."""
