"""The only part of kb that imports ``reproductions``: methods, suites and claims run into the experiment log, pictures of them."""

from kb.bench.methods import example_data, example_text, method_data, method_text, methods_data, methods_text

__all__ = ["example_data", "example_text", "method_data", "method_text", "methods_data", "methods_text"]
