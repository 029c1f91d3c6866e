"""The search index below ``.kb/``: passages, keywords, vectors. All of it can be deleted and made again.

``reader.Index`` reads it; ``reconcile.reconcile`` brings it in step with the files.
"""
