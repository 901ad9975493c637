"""The data of `ticketbox demo`, an invented company and its bugs, and its loader."""
