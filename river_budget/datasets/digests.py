"""SHA-256 of files whose content is known byte by byte.

Those that end with .xz are the files of the project's own mirror, packed by us. The .mat files are those of
the authors of the 2016 paper. For other downloads no digest is published: they are checked by length, by the
checksums inside .bz2, .gz and .zip files, and by the number of rows and features. The list is one that
`sha256sum -c sha256.txt` reads.
"""

from __future__ import annotations

import importlib.resources

_LIST = importlib.resources.files(__package__).joinpath("sha256.txt").read_text("utf-8")
SHA256 = {name: digest for digest, name in map(str.split, _LIST.splitlines())}
