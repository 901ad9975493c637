"""What `ticketbox demo` fills a file with: an invented company and its bugs, as data, and the loader."""
