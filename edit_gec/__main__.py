"""python -m edit_gec: the same as the edit-gec command."""

from __future__ import annotations

import sys

from edit_gec.cli import main

if __name__ == "__main__":
    sys.exit(main())
