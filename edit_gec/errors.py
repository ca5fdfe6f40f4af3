"""Every error that a user can do something about, as one line.

    EditGecError             the base class of all
      InputError             an argument, a file or a text that does not fit (also a ValueError)
      ModelError             a model that is unknown, broken or of another kind
      DeviceError            a device that this machine does not have
      WriteError             a file that cannot be written; it is as it was
      MissingExtraError      a part that needs a package that is not installed

A message says what was given, what was expected and what to do about it. The command line prints it on stderr without
a traceback and exits with status 1. Every other exception is a bug of ours.
"""

from __future__ import annotations


class EditGecError(Exception):
    """Something that a user can put right: the message is one line, meant for the user."""


class InputError(EditGecError, ValueError):
    """An argument, a file or a text that we cannot work with."""


class ModelError(EditGecError):
    """A model that is unknown, or a folder that holds no such model."""


class DeviceError(EditGecError):
    """A device that is unknown, or that this machine does not have."""


class WriteError(EditGecError):
    """A file that could not be written or replaced; it is as it was."""


class MissingExtraError(EditGecError):
    """A package that this part of edit-gec needs is not installed; the message names the extra to install."""
