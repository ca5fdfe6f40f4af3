"""E-mail: what its writer wrote is seen; headers, quotes, signatures and encoded parts are not."""

from __future__ import annotations

import email
import email.policy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import law, nasty
from support.timing import is_linear, repeat

from edit_gec.text.edits import Change, apply, resolve_overlaps
from edit_gec.text.sentences import split

BODY = """Hi Bob,

she go home becuase she is tired and she has not
sleep well.

On Tue, 3 Nov 2026 at 10:00, Bob Smith <bob@example.org>
wrote:
> She go.
> > They goes.

I thinks so.

```
it go

it go
```

Best regards,
Ann Smith

--\x20
She go home
"""
READ = [
    ("Hi Bob,", True),
    ("she go home becuase she is tired and she has not sleep well.", False),
    ("I thinks so.", False),
    ("Best regards, Ann Smith", True),
]
HEADERS = """From: Ann <ann@example.org>
To: Bob <bob@example.org>
Subject: She go home
"""
PARTS = """MIME-Version: 1.0
Content-Type: multipart/mixed;
 boundary="abc"

preamble go
--abc
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

{}--inner
Content-Type: text/html

<p>She go</p>
--inner--
it go
--abc
Content-Type: text/plain
Content-Transfer-Encoding: quoted-printable

She go=20
--abc
Content-Type: text/plain
Content-Disposition: attachment; filename=a.txt

It go.
--abc

A part without headers go.
--abc--
epilogue go
"""


def read(text: str) -> list[tuple[str, bool]]:
    return [(sentence.text, sentence.fragment) for sentence in split(text, format="mail")]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_is_read(line_end: str) -> None:
    for text in (BODY, f"{HEADERS}\n{BODY}"):
        assert read(text.replace("\n", line_end)) == READ
    last = ("A part without headers go.", False)
    assert read((HEADERS + PARTS.format(BODY)).replace("\n", line_end)) == [*READ, last]


@pytest.mark.parametrize(
    "end",
    [
        "-----Original Message-----\nThey goes.",
        "---------- Forwarded message ---------\nThey goes.",
        "Begin forwarded message:\n\nThey goes.",
        "________________________________\nFrom: Bob\nThey goes.",
        "From: Bob <bob@example.org>\nSent: Monday\nThey goes.",
        "diff --git a/a b/a\n+It go",
        "Sent from my phone",
        "-- \nThey goes.",
        "On Monday, Bob wrote:\n\n> It go.",
        "Am 3. November 2026 schrieb Bob:\n> It go.",
        "Bob> It go.",
    ],
)
def test_what_is_left_out(end: str) -> None:
    assert read(f"I go home.\n\n{end}\n") == [("I go home.", False)]


@pytest.mark.parametrize(
    "headers",
    [
        "Content-Transfer-Encoding: base64",
        "Content-Transfer-Encoding: quoted-printable",
        "Content-Type: text/html",
        "Content-Type: application/pgp-encrypted",
        "Content-Type: multipart/signed; boundary=abc",
        "Content-Type: multipart/mixed",
        "Content-Disposition: attachment",
    ],
)
def test_what_no_edit_can_keep_whole_is_left_out(headers: str) -> None:
    assert read(f"{HEADERS}{headers}\n\nI go home.\n--abc\n\nI go.\n--abc--\n") == []


def test_a_signed_message_is_left_out() -> None:
    assert read("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nI go.\n-----BEGIN PGP SIGNATURE-----\n") == []


PIECES = [
    "> ",
    "go",
    " ",
    "\n",
    "\n\n",
    "--abc",
    "--abc--",
    "-- ",
    "From: a\n",
    "On a\n",
    "wrote:",
    "```\n",
    "Content-Type: text/plain\n",
]


@law
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | nasty, nasty)
def test_headers_quotes_and_other_parts_stay(text: str, new: str) -> None:
    document = HEADERS + PARTS.replace("{}", "I go home.\n\n> It go.\n" + text.replace("{", "") + "\n")
    edits = [each.project(document, Change(0, len(each.text), new, 0.5)) for each in split(document, format="mail")]
    corrected = apply(document, resolve_overlaps(edit for edit in edits if edit))
    assert corrected.startswith(document[: document.index("I go home.")]) and "\n\n> It go.\n" in corrected
    before, after = (email.message_from_string(each, policy=email.policy.default) for each in (document, corrected))
    assert before.items() == after.items()
    if "--" not in text + new:  # the parts are those that Python's parser finds
        assert [part.get_content_type() for part in after.walk()] == [part.get_content_type() for part in before.walk()]


@pytest.mark.parametrize(
    "line", ["> a\n", "--a\n", "On a\n", "From: a\n", "a\n\n", "```\n", "Content-Type: multipart/x; boundary=a\n"]
)
def test_the_time_is_linear(line: str) -> None:
    def read(text: str) -> None:
        split(HEADERS + PARTS.replace("{}", text), format="mail")

    assert is_linear(read, repeat(line))
