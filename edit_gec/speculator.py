"""The old name of `python -m edit_gec.training.mlp_speculator`. It will go in version 0.3."""

import sys
import warnings

from edit_gec.training.mlp_speculator import main

if __name__ == "__main__":
    warnings.warn("python -m edit_gec.speculator is now edit_gec.training.mlp_speculator", FutureWarning, stacklevel=1)
    sys.exit(main())
