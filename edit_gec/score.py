"""The old name of `edit-gec score`, for one release."""

import runpy
import sys
import warnings

if __name__ == "__main__":
    warnings.warn("python -m edit_gec.score is now edit-gec score", DeprecationWarning, stacklevel=1)
    sys.argv.insert(1, "score")
    runpy.run_module("edit_gec", run_name="__main__", alter_sys=True)
