"""SARIF 2.1.0: findings as GitHub's code scanning and editors read them.

GitHub asks for a name, a description and help of each rule, and tells old findings from new ones by a fingerprint: here
of the line that an edit begins on, without white space, and of the edit, so that lines may move.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from edit_gec.text.edits import Edit
from edit_gec.text.parts import line_end
from edit_gec.text.render import Finding, describe, find_places, rule_id, rule_name

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(version: str, files: Iterable[tuple[str, str, Sequence[Edit], Sequence[Edit]]]) -> dict[str, Any]:
    """One log for (path, text, edits, hints) of all files; results carry fixes, columns are code points.

    A hint is a note without a fix: a tool that applies fixes leaves it alone.
    """
    results: list[dict[str, Any]] = []
    rules: dict[str, dict[str, Any]] = {}
    for path, text, edits, hints in files:
        uri = PurePath(path).as_uri() if os.path.isabs(path) else quote(os.fsencode(PurePath(path).as_posix()))
        seen: Counter[str] = Counter()
        fingerprints = _Fingerprints(text)
        for finding in find_places(text, edits, hints):
            result = _result(uri, finding)
            fingerprint = fingerprints.make(finding.edit)
            seen[fingerprint] += 1
            result["partialFingerprints"] = {"primaryLocationLineHash": f"{fingerprint}:{seen[fingerprint]}"}
            results.append(result)
            rules.setdefault(result["ruleId"], _rule(finding.edit))
    driver = {"name": "edit-gec", "version": version, "rules": [rules[name] for name in sorted(rules)]}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _result(uri: str, finding: Finding) -> dict[str, Any]:
    edit, start, end, is_hint = finding
    place = {"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column}
    fix = {"deletedRegion": place, "insertedContent": {"text": edit.replacement}}
    return {
        "ruleId": rule_id(edit),
        "level": "note" if is_hint else "warning",
        "message": {"text": describe(edit)},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": place}}],
        **(
            {}
            if is_hint
            else {"fixes": [{"artifactChanges": [{"artifactLocation": {"uri": uri}, "replacements": [fix]}]}]}
        ),
        "properties": {"confidence": round(edit.confidence, 4), "provenance": str(edit.provenance)},
    }


def _rule(edit: Edit) -> dict[str, Any]:
    name = rule_name(edit)
    ignore = edit.type or edit.kind
    advice = f' To leave such edits out, set `ignore = ["{ignore}"]` in edit-gec.toml.' if ignore else ""
    return {
        "id": rule_id(edit),
        "shortDescription": {"text": name.capitalize()},
        "fullDescription": {"text": f"A correction of this kind: {name}."},
        "help": {"text": f"`edit-gec correct --write` makes the correction.{advice}"},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": ["grammar"]},
    }


class _Fingerprints:
    """The fingerprints of a file's edits in order; a line is hashed once, however many edits it has."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.end = -1  # of the line of the last edit
        self.line = sha256()

    def make(self, edit: Edit) -> str:
        """That of an edit."""
        if edit.start > self.end:
            first = self.text.rfind("\n", 0, edit.start) + 1
            self.end = line_end(self.text, edit.start)
            self.line = sha256("".join(self.text[first : self.end].split()).encode("utf-8", "surrogatepass"))
        whole = self.line.copy()
        whole.update(f"\0{edit.original}\0{edit.replacement}".encode("utf-8", "surrogatepass"))
        return whole.hexdigest()[:16]
