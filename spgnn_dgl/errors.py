"""Errors a user can cause.

Each derives from :class:`SpgnnError` and from the builtin a caller would expect, and each message says what was
given, what was expected and what to do. The command line prints the message alone and exits with 2.
"""

from __future__ import annotations


class SpgnnError(Exception):
    """Base of every error a user can cause and mend."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0]) if self.args else ""


class DatasetError(SpgnnError, ValueError):
    """The data is not what its format promises, or not fit for classification."""


class DatasetNotFoundError(SpgnnError, FileNotFoundError):
    """A dataset or one of its files is not where it was looked for."""


class UnknownNameError(SpgnnError, KeyError):
    """A name that is in no registry."""


class OptionError(SpgnnError, ValueError):
    """An option that does not exist, or a value it cannot take."""


class MissingExtraError(SpgnnError, ImportError):
    """A method needs a package that is not installed; the message holds the command that installs it."""


class EnvironmentProblem(SpgnnError, ImportError):
    """DGL or PyTorch cannot be used as installed."""


class PluginError(SpgnnError, ImportError):
    """A plugin that is not there, or that fails while it is loaded."""


class TrainingError(SpgnnError, RuntimeError):
    """Training cannot go on, for example because the loss is not finite."""


class BudgetExceeded(SpgnnError, TimeoutError):
    """A method has used up the time it was given."""


class ModelFileError(SpgnnError, ValueError):
    """A model file that is damaged, foreign, or from a newer version."""


class RunError(SpgnnError, RuntimeError):
    """A run folder that cannot be opened, resumed or paired."""


class DownloadError(SpgnnError, OSError):
    """A download that failed, with what to do instead."""


def missing_extra(package: str, extra: str, wanted_by: str) -> MissingExtraError:
    """The error for a package that an optional part needs."""
    return MissingExtraError(
        f"{wanted_by} needs the package '{package}', which is not installed. "
        f"Install it with: pip install 'spgnn_dgl[{extra}]' -c constraints.txt"
    )
