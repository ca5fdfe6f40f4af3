"""Texts that are hard on a corrector, as hypothesis strategies, and how often a law is tried on them."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

law = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no failure
thorough = settings(law, max_examples=300)
thousands = settings(law, max_examples=1000)
brief = settings(law, max_examples=25)

NASTY = [
    *" ▁\t\r\n\x00\u00a0\u2028\u200b\u200d\ufeff.!?'’\"-/<>eéÅﬁ½①中ß\u0301\u0323\u202e😀\U0010ffff",
    *("\r\n", "  ", "👩\u200d🚒", "🇩🇪", "e\u0301", "\ud800", "\udfff", "각", "Ａ", "ﷺ", "…", "\u3000"),
    *("<extra_id_3>", "<extra_id_0>", "</s>", "<unk>", "<pad>", "<0x41>", "▁the", " the", "learn", "ing", " I was"),
]
nasty = st.lists(st.sampled_from(NASTY), max_size=16).map("".join) | st.text(max_size=24)
valid = nasty.map(lambda text: text.encode(errors="ignore").decode())  # without lone surrogates
