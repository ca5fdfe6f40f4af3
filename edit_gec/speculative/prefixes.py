"""Prefixes that well-known T5 correctors of the Hugging Face hub expect before each sentence.

A model that was trained with a prefix corrects badly without it, and its config.json seldom names it. These prefixes
are from the model cards. `target_prefix` replaces them.
"""

from __future__ import annotations

from pathlib import Path

PREFIXES = {
    "Modfiededition/t5-base-fine-tuned-on-jfleg": "grammar: ",
    "grammarly/coedit-large": "Fix grammar: ",
    "grammarly/coedit-xl": "Fix grammar: ",
    "grammarly/coedit-xxl": "Fix grammar: ",
    "prithivida/grammar_error_correcter_v1": "gec: ",
    "vennify/t5-base-grammar-correction": "grammar: ",
}


def find_prefix(folder: Path) -> str:
    """The prefix of a target in the hub's cache, by the folder that the cache gives it; "" for all others.

    >>> find_prefix(Path("hub/models--vennify--t5-base-grammar-correction/snapshots/0123"))
    'grammar: '
    >>> find_prefix(Path("models/t5-mini"))
    ''
    """
    names = {f"models--{hub_id.replace('/', '--')}": prefix for hub_id, prefix in PREFIXES.items()}
    return next((names[part] for part in folder.parts if part in names), "")
