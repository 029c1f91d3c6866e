"""Synthetic episodes from known truth. Each world isolates one question about credit; its docstring says which."""
