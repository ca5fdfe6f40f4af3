"""What the user ignores: words of the user and of the project (config/), and single corrections.

    ~/.config/edit-gec/ignored.txt       a hash of each ignored correction and its sentence

A changed file is read again, so editors that run side by side agree.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from edit_gec.config.projects import Projects
from edit_gec.config.settings import Settings
from edit_gec.config.user_words import WatchedLineFile
from edit_gec.errors import InputError
from edit_gec.text.edits import Edit


def correction_key(sentence: str, start: int, edit: Edit) -> str:
    """A hash that identifies a correction at `start` of its sentence. The text cannot be restored from it."""
    whole = _hash(sentence).copy()
    whole.update(f"\0{start}\0{edit.original}\0{edit.replacement}".encode())
    return str(whole.hexdigest()[:16])


@lru_cache(maxsize=1)
def _hash(sentence: str) -> Any:
    """That of a sentence, which may have thousands of corrections."""
    return sha256(sentence.encode())


class UserDictionary:
    """The user's words and ignored corrections, with the settings of the projects that documents are in."""

    def __init__(self, projects: Projects) -> None:
        self.projects = projects
        self.ignored = WatchedLineFile(projects.own.path.with_name("ignored.txt"))

    def add_word(self, word: str, project: Settings | None) -> None:
        """Ignore a word from now on, everywhere or in one project. Raises InputError if it has no words file."""
        if project is None:
            self.projects.own.add(word)
        elif project.words_file is None:
            raise InputError("this project has no file of words: set dictionary = 'words.txt' in its settings")
        else:
            WatchedLineFile(Path(project.words_file)).add(word)
