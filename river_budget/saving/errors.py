"""What is raised for a file that holds no model that can be used."""

from __future__ import annotations


class SavedModelError(ValueError):
    """A file that is no saved model, or is damaged, or comes from a later version."""
