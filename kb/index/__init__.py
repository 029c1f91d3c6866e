"""The search index below ``.kb/``: passages, keywords, vectors. All of it can be deleted and made again."""
