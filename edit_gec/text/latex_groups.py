r"""Which brackets and environments of a LaTeX text belong together.

Braces in comments and in verbatim text are none. An environment that ends closes the braces that are open in it, so
that one that was forgotten does not shift all others.
"""

from __future__ import annotations

import re
from collections import Counter

from edit_gec.text import latex_names as names

VERB = (
    r"\\(?:verb\*?|(?:lstinline|mintinline|Verb\*?)(?:\[[^\]\n]{0,100}\])?(?:\{\w{1,20}\})?)"
    r"(?P<bar>[^\w\s*{}\\\[])[^\n]{0,200}?(?P=bar)"
)
ENVIRONMENT = r"\\(?P<edge>begin|end)[ \t]*\{(?P<env_name>[^{}\\%$\n]{1,60})\}"
_ADDRESS = r"\\(?:url|nolinkurl|path|href)\*?[ \t]*(?P<address>\{)[^{}\s]*\}"
_TOKEN = re.compile(rf"{ENVIRONMENT}|{VERB}|{_ADDRESS}|%[^\n]*|\\[\s\S]|(?P<bracket>[\[\]{{}}])")


class Groups:
    """What belongs together in a text, by the place of what opens it; found in time that is linear in its length."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pairs: dict[int, int] = {}  # a brace or bracket -> the one that closes it
        self.environments: dict[int, int] = {}  # \begin -> \end
        self.document: int | None = None  # the place of \begin{document}
        self._opened: list[tuple[str, int]] = []  # "[", "{", or the name of an environment, and its place
        self._names: Counter[str] = Counter()
        at = 0
        while found := _TOKEN.search(text, at):
            at = found.end()
            if found["edge"] == "begin":
                at = self._begin(found)
            elif found["edge"]:
                self._end(found["env_name"], found.start())
            elif found["address"]:
                self.pairs[found.start("address")] = at - 1
            elif found["bracket"] in ("[", "{"):
                self._opened.append((found[0], found.start()))
            elif found["bracket"]:
                self._close(found[0], found.start())

    def _begin(self, found: re.Match[str]) -> int:
        """Open an environment; return where to continue."""
        start, at = found.span()
        name = found["env_name"]
        if names.VERBATIM.fullmatch(name):
            end = self.text.find(f"\\end{{{name}}}", at)
            if end < 0:
                return len(self.text)
            self.environments[start] = end
            return end + len(f"\\end{{{name}}}")
        if name == "document" and self.document is None:
            self.document = start
        self._opened.append((name, start))
        self._names[name] += 1
        return at

    def _end(self, name: str, place: int) -> None:
        while self._names[name]:
            opener, start = self._opened.pop()
            if opener not in ("[", "{"):
                self._names[opener] -= 1
            if opener == name:
                self.environments[start] = place
                break

    def _close(self, bracket: str, place: int) -> None:
        opened = self._opened
        if bracket == "}":
            while opened and opened[-1][0] == "[":
                opened.pop()
        if opened and opened[-1][0] == ("{" if bracket == "}" else "["):
            self.pairs[opened.pop()[1]] = place
