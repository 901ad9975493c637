class Bugsink:
    name = "Bugsink"
