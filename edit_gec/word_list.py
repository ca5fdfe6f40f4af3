"""The old name of edit_gec.training.build_lexicon, for one release."""

import runpy
import warnings

if __name__ == "__main__":
    warnings.warn(
        "python -m edit_gec.word_list is now python -m edit_gec.training.build_lexicon",
        DeprecationWarning,
        stacklevel=1,
    )
    runpy.run_module("edit_gec.training.build_lexicon", run_name="__main__", alter_sys=True)
