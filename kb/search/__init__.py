"""From a question in Chinese or English to passages of the base."""
