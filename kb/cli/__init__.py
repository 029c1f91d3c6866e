"""The command line: parse, call, print. One module a noun; each is imported when its command runs."""

from kb.cli.app import main

__all__ = ["main"]
