"""Facts drafted from a paper's own text: the best passages of each column, a value, and where it stands.

A draft is a proposal with evidence that a person accepts, changes or rejects; nothing here decides what is true.
"""
