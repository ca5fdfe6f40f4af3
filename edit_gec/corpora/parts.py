"""The old name of edit_gec.corpus.job, for one release."""

import warnings

from edit_gec.corpus.job import plain as plain
from edit_gec.corpus.job import revert as revert

warnings.warn("edit_gec.corpora.parts is now edit_gec.corpus.job", DeprecationWarning, stacklevel=2)
