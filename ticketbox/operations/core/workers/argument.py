"""The argument with which the executable is its own worker process: it can't run a module."""

ARGUMENT = "--worker-process"
