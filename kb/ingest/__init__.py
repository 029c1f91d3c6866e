"""From a source named on the command line to files in ``papers/<slug>/``."""
