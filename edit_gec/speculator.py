"""The old name of edit_gec.training.mlp_speculator, for one release."""

import runpy
import warnings

if __name__ == "__main__":
    warnings.warn(
        "python -m edit_gec.speculator is now python -m edit_gec.training.mlp_speculator",
        DeprecationWarning,
        stacklevel=1,
    )
    runpy.run_module("edit_gec.training.mlp_speculator", run_name="__main__", alter_sys=True)
