"""Docstrings as the site shows them: references are a list, and links into the guide lead to its
pages.
"""

from __future__ import annotations

import re

import griffe

SECTION = re.compile(r"^References\n-+\n(.*)\Z", re.M | re.S)


class Docstrings(griffe.Extension):
    """Applied to every object that griffe has read."""

    def on_object(self, *, obj, **_):
        if obj.docstring:
            obj.docstring.value = for_the_site(obj.docstring.value)


def for_the_site(text):
    text = SECTION.sub(lambda found: "**References**\n\n" + as_list(found[1]), text)
    return text.replace("](guide/", "](../guide/")


def as_list(section):
    entries = re.split(r"^\[\^\d+\]:", section, flags=re.M)
    return "\n".join(f"- {' '.join(entry.split())}" for entry in entries if entry.strip())
