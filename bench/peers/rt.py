class RequestTracker:
    name = "RequestTracker"
