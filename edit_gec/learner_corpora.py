"""The old name of edit_gec.training.learner_corpora, for one release."""

import runpy
import warnings

if __name__ == "__main__":
    warnings.warn(
        "python -m edit_gec.learner_corpora is now python -m edit_gec.training.learner_corpora",
        DeprecationWarning,
        stacklevel=1,
    )
    runpy.run_module("edit_gec.training.learner_corpora", run_name="__main__", alter_sys=True)
