"""The old name of edit_gec.annotation.syntax, for one release."""

import runpy
import warnings

if __name__ == "__main__":
    warnings.warn(
        "python -m edit_gec.scoring.syntax is now python -m edit_gec.annotation.syntax",
        DeprecationWarning,
        stacklevel=1,
    )
    runpy.run_module("edit_gec.annotation.syntax", run_name="__main__", alter_sys=True)
