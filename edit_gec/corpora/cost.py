"""The old name of edit_gec.corpus.cost, for one release."""

import runpy
import warnings

if __name__ == "__main__":
    warnings.warn(
        "python -m edit_gec.corpora.cost is now python -m edit_gec.corpus.cost",
        DeprecationWarning,
        stacklevel=1,
    )
    runpy.run_module("edit_gec.corpus.cost", run_name="__main__", alter_sys=True)
