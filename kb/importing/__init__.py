"""Bringing notes and weekly reports in that were written elsewhere. Sources are read, never changed."""
