"""What a capture of real sites holds of what happened there, and what its recorder costs them."""
