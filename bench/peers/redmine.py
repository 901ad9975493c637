class Redmine:
    name = "Redmine"
