"""The old name of edit_gec.corpus.edit_column, for one release."""

import warnings

from edit_gec.corpus.edit_column import edit_to_dict as plain
from edit_gec.corpus.edit_column import revert_edits as revert

__all__ = ["plain", "revert"]

warnings.warn("edit_gec.corpora.parts is now edit_gec.corpus.edit_column", DeprecationWarning, stacklevel=2)
