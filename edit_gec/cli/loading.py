"""From the options of a command to a corrector that is ready."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from edit_gec.catalog import DEFAULT_JUDGE, DEFAULT_MODEL, DEFAULT_TARGET
from edit_gec.cli.arguments import FrontOptions
from edit_gec.cli.console import say
from edit_gec.config.projects import Projects
from edit_gec.config.settings import Settings, words

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector


def find_projects(options: FrontOptions) -> Projects:
    """The settings of files, overridden by the command line. Raises InputError for an unreadable dictionary."""
    return Projects(options.config, options.isolated, asked_settings(options))


def asked_settings(options: FrontOptions) -> Settings:
    """What the options set. Raises InputError for a dictionary that cannot be read."""
    listed = tuple(word for path in options.dictionary for word in words(path))
    return Settings(
        dictionary=listed,
        min_confidence=options.min_confidence,
        strictness=options.strictness,
        model=options.model,
        run=options.run_settings,
        ignore=tuple(name for names in options.ignore for name in names),
        dialect=options.dialect,
    )


def load_corrector(options: FrontOptions, settings: Settings | None = None) -> Corrector:
    """The requested corrector. Raises InputError for a missing model, device or dictionary."""
    from edit_gec.corrector import Corrector

    given = corrector_arguments(options, settings)
    corrector = Corrector.load(**given)
    warn_of_slow_dtype(given)
    return corrector


def corrector_arguments(options: FrontOptions, settings: Settings | None = None) -> dict[str, Any]:
    """The arguments of Corrector.load with these settings, by default those of the options alone.

    Raises InputError for a dictionary.
    """
    settings = asked_settings(options) if settings is None else settings
    return {
        "model": DEFAULT_MODEL if settings.model is None else settings.model,
        "min_confidence": settings.min_confidence,
        "strictness": settings.strictness,
        "dictionary": settings.dictionary,
        "dialect": settings.dialect,
        "target": options.target or default_target(options.verify, settings.run.get("verify")),
        **options.own,
        **settings.run,
    }


def default_target(is_asked: bool, mode: str | None) -> str | None:
    """The second model where none is named: of --verify, or of the setting `verify`."""
    if mode == "exact":
        return DEFAULT_TARGET
    return DEFAULT_JUDGE if is_asked or mode else None


def warm_up(corrector: Corrector) -> None:
    """Load everything that the first request would wait for; a missing package is reported now."""
    from edit_gec.runtime import explaining

    corrector.correct("She go home.")
    explaining.warm_up()


def warn_of_slow_dtype(given: Mapping[str, Any]) -> None:
    """Warn if the dtype in these arguments is to save time but this processor has no instructions for it."""
    dtype = given.get("dtype", "float32")
    if dtype == "float32":
        return
    import torch

    from edit_gec.modeling import onednn

    if not onednn.has_native_dtype(getattr(torch, dtype), given.get("device", "cpu")):
        say(f"edit-gec: this processor does not compute in {dtype}, it takes several times as long; leave dtype out")
