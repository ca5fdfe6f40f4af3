"""The old name of edit_gec.runtime.dedup, for one release."""

import warnings

from edit_gec.runtime.dedup import DeduplicatingCorrector as Once

__all__ = ["Once"]

warnings.warn("edit_gec.corpora.once is now edit_gec.runtime.dedup", DeprecationWarning, stacklevel=2)
