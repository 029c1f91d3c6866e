"""kb: a literature and experiment knowledge base of plain text files, with a command line."""

__version__ = "0.1.0"
