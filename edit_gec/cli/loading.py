"""From the options of a command to a corrector that is ready."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from edit_gec.catalog import DEFAULT_JUDGE, DEFAULT_MODEL, DEFAULT_TARGET
from edit_gec.cli.arguments import FrontOptions, ModelOptions
from edit_gec.cli.console import say
from edit_gec.config.projects import Projects
from edit_gec.config.settings import Settings, words

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector


def find_projects(options: FrontOptions) -> Projects:
    """The settings of files, overridden by the command line. Raises InputError for an unreadable dictionary."""
    has_threshold = options.strictness is None
    return Projects(options.config, options.isolated, asked_settings(options), has_threshold=has_threshold)


def asked_settings(options: ModelOptions) -> Settings:
    """What the options set. Raises InputError for a dictionary that cannot be read."""
    listed = tuple(word for path in options.dictionary for word in words(path))
    asked = Settings(dictionary=listed, min_confidence=options.min_confidence, model=options.model)
    if not isinstance(options, FrontOptions):
        return asked
    ignore = tuple(name for names in options.ignore for name in names)
    return replace(asked, ignore=ignore, dialect=options.dialect)


def load_corrector(options: ModelOptions, settings: Settings | None = None) -> Corrector:
    """The requested corrector. Raises InputError for a missing model, device or dictionary."""
    from edit_gec.corrector import Corrector

    corrector = Corrector.load(**corrector_arguments(options, settings))
    warn_of_slow_dtype(options)
    return corrector


def corrector_arguments(options: ModelOptions, settings: Settings | None = None) -> dict[str, Any]:
    """The arguments of Corrector.load with these settings, by default those of the options alone.

    Raises InputError for a dictionary.
    """
    settings = asked_settings(options) if settings is None else settings
    return {
        "model": DEFAULT_MODEL if settings.model is None else settings.model,
        "min_confidence": settings.min_confidence if options.strictness is None else None,
        "strictness": options.strictness,
        "dictionary": settings.dictionary,
        "dialect": settings.dialect,
        "backend": options.backend,
        "precision": options.precision,
        "device": options.device,
        "dtype": options.dtype,
        "threads": options.threads,
        "batch_size": options.batch_size,
        "target": options.target or default_target(options),
        "target_prefix": options.target_prefix,
        "target_prompt": options.target_prompt,
        "verify": options.verify_mode,
    }


def default_target(options: ModelOptions) -> str | None:
    """The second model of --verify where none is named."""
    if options.verify_mode == "exact":
        return DEFAULT_TARGET
    return DEFAULT_JUDGE if options.verify or options.verify_mode else None


def warm_up(corrector: Corrector) -> None:
    """Load everything that the first request would wait for; a missing package is reported now."""
    from edit_gec.runtime import explaining

    corrector.correct("She go home.")
    explaining.warm_up()


def warn_of_slow_dtype(options: ModelOptions) -> None:
    """Warn if --dtype is meant to save time but this processor has no instructions for it."""
    if options.dtype == "float32":
        return
    import torch

    from edit_gec.modeling import onednn

    if not onednn.has_native_dtype(getattr(torch, options.dtype), options.device):
        say(
            f"edit-gec: this processor does not compute in {options.dtype}, it takes several times as long; "
            "leave --dtype out"
        )
