"""Embedders: text to unit vectors. ``registry.open_embedder`` is the way in; importing this package is cheap."""
