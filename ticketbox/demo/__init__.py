"""What `ticketbox demo` fills a file with: an invented company, its people and their troubles."""
