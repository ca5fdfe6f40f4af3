"""From the options of a command to a corrector that is ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from edit_gec import config
from edit_gec.catalog import DEFAULT_MODEL, DEFAULT_TARGET
from edit_gec.cli.arguments import ModelOptions
from edit_gec.cli.console import say
from edit_gec.speculative.loading import VERIFY

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector


def load_corrector(options: ModelOptions, settings: config.Settings | None = None) -> Corrector:
    """The corrector that is asked for. Raises InputError for a model, a device or a dictionary that is not there."""
    from edit_gec.corrector import Corrector

    corrector = Corrector.load(**corrector_arguments(options, settings))
    warn_of_slow_dtype(options)
    return corrector


def corrector_arguments(options: ModelOptions, settings: config.Settings | None = None) -> dict[str, Any]:
    """The arguments of Corrector.load. Options win over settings; words add up. Raises InputError for a dictionary."""
    settings = settings or config.Settings()
    words = [*settings.dictionary, *(word for path in options.dictionary for word in config.words(path))]
    return {
        "model": model_name(options, settings),
        "min_confidence": settings.min_confidence if options.min_confidence is None else options.min_confidence,
        "dictionary": words,
        "device": options.device,
        "dtype": options.dtype,
        "threads": options.threads,
        "batch_size": options.batch_size,
        "target": options.target or (DEFAULT_TARGET if options.verify else None),
        "target_prefix": options.target_prefix,
        "verify": options.verify or VERIFY[0],
        "lenience": options.lenience,
    }


def model_name(options: ModelOptions, settings: config.Settings | None = None) -> str:
    """Name or folder of the model: as asked for, else of the settings, else the one we ship."""
    if options.model is not None:
        return options.model
    return (settings and settings.model) or DEFAULT_MODEL


def warm_up(corrector: Corrector) -> None:
    """Load all that the first request would wait for; a package that is not installed is told now."""
    from edit_gec.annotation.explain import explain
    from edit_gec.text.edits import Edit

    corrector.correct("She go home.")
    explain("She go home.", [Edit(4, 6, "go", "goes", 1.0)])


def warn_of_slow_dtype(options: ModelOptions) -> None:
    """Tell who asked for other numbers to save time that this processor has no instructions for them."""
    if options.dtype == "float32":
        return
    import torch

    from edit_gec.modeling import onednn

    if not onednn.has_native_dtype(getattr(torch, options.dtype), options.device):
        say(
            f"edit-gec: this processor does not compute in {options.dtype}, it takes several times as long; "
            "leave --dtype out"
        )
