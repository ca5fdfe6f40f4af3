"""Only new findings: skips sentences that a git revision or a baseline already has.

Sentences are compared, not lines: a paragraph that is rewrapped, and a sentence that moved, are not new.
"""

from __future__ import annotations

import os
import subprocess
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

from edit_gec.errors import InputError
from edit_gec.text import files
from edit_gec.text.edits import Edit
from edit_gec.text.sentences import Sentence, split

HEADER = "# Sentences that edit-gec has something to say about, and should not: `edit-gec correct --baseline`.\n"
Splitter = Callable[[str], list[Sentence]]  # a text -> its sentences, as it is corrected


def sentence_key(sentence: Sentence) -> str:
    """A hash of the words of a sentence, whatever lines they stand on. The text cannot be restored from it."""
    return sha256(" ".join(sentence.text.split()).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def find_keys(sentences: Sequence[Sentence], edits: Iterable[Edit]) -> list[str]:
    """The key of the sentence of each edit, "" for an edit outside all sentences."""
    starts = [sentence.offsets[0] for sentence in sentences]
    places = [bisect_right(starts, edit.start) - 1 for edit in edits]
    keys = {place: sentence_key(sentences[place]) if place >= 0 else "" for place in set(places)}
    return [keys[place] for place in places]


def read_baseline(path: str) -> frozenset[str]:
    """The keys in a baseline. Raises InputError."""
    lines = (line.split() for line in files.read(path).text.splitlines() if not line.startswith("#"))
    return frozenset(words[0] for words in lines if words)


def write_baseline(path: str, found: Iterable[tuple[str, str]]) -> None:
    """Write a baseline of (key, file) atomically, a line for each. Raises InputError."""
    lines = sorted({f"{key}  {name}\n" for key, name in found}, key=lambda line: (line[18:], line))
    try:
        files.atomic_write(path, "".join([HEADER, *lines]).encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise InputError(f"{path}: cannot write: {error.strerror}") from None


class Revision:
    """The files of git repositories as they were at a revision."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._changes: dict[str, dict[str, str | None]] = {}  # repository -> changed file -> its old path, if any
        self._tracked: dict[str, set[str]] = {}
        self._roots: dict[str, str] = {}  # of the repository of each folder: git is asked once

    def is_unchanged(self, path: str) -> bool:
        """Whether a file is as it was. Raises InputError outside a repository, and for an unknown revision."""
        root, name = self._locate(path)
        return name not in self._changes[root] and name in self._tracked[root]

    def find_keys(self, path: str, splitter: Splitter) -> frozenset[str]:
        """The keys of the sentences that a file had; none for a new one."""
        root, name = self._locate(path)
        old = self._changes[root].get(name)
        if old is None:
            return frozenset()
        data = _git(root, "show", f"{self.name}:{old}")
        return frozenset(sentence_key(sentence) for sentence in splitter(files.decode(path, data).text))

    def _locate(self, path: str) -> tuple[str, str]:
        """The root of a file's repository, and its path from there."""
        real = os.path.realpath(path)
        folder = os.path.dirname(real)
        if folder not in self._roots:
            root = os.fsdecode(_git(folder, "rev-parse", "--show-toplevel"))
            self._roots[folder] = os.path.realpath(root.rstrip("\n"))
        top = self._roots[folder]
        if top not in self._changes:
            listed = _git(top, "diff", "--name-status", "--find-renames", "-z", self._find_commit(top), "--")
            self._changes[top] = _parse_changes(os.fsdecode(listed).split("\0"))
            self._tracked[top] = set(os.fsdecode(_git(top, "ls-files", "-z")).split("\0"))
        return top, os.path.relpath(real, top).replace(os.sep, "/")

    def _find_commit(self, root: str) -> str:
        """The hash of the revision. Raises InputError where the repository has no such one."""
        try:
            found = _git(root, "rev-parse", "--verify", "--end-of-options", f"{self.name}^{{commit}}")
        except InputError:
            raise InputError(
                f"--since {self.name}: no such revision in {root}; `git fetch` may bring it, "
                "in continuous integration a checkout of the whole history (fetch-depth: 0)"
            ) from None
        return os.fsdecode(found).strip()


def _parse_changes(fields: Sequence[str]) -> dict[str, str | None]:
    """What `git diff --name-status -z` lists: changed file -> its old path, None for a new one."""
    changes: dict[str, str | None] = {}
    words = iter(fields)
    for status in words:
        if status[:1] in ("R", "C"):
            old = next(words)
            changes[next(words)] = old
        elif status:
            name = next(words)
            changes[name] = None if status == "A" else name
    return changes


def _git(folder: str, *arguments: str) -> bytes:
    """What git prints. Raises InputError with what it complains of."""
    try:
        done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, check=False)
    except FileNotFoundError:
        raise InputError("--since needs git, which is not installed") from None
    if done.returncode:
        complaint = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InputError(f"--since: git says: {complaint[-1] if complaint else 'nothing'}")
    return done.stdout


def split_as(lines: bool, format: str) -> Splitter:
    """How a document of this format is split."""
    return lambda text: split(text, lines=lines, format=format)
