"""What can go wrong with a batch or a method's parameters; every error carries a hint of what to do next."""

from __future__ import annotations


class ReproductionError(Exception):
    """Root of the package's errors: ``str(error)`` says what happened, ``error.hint`` what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        message = str(self.args[0])
        return f"{message} ({self.hint})" if self.hint else message

    def __reduce__(self) -> tuple[object, ...]:
        # Errors come back from worker processes.
        return type(self)._rebuild, (self.__dict__, self.args[0])

    @classmethod
    def _rebuild(cls, state: dict[str, object], message: str) -> ReproductionError:
        error = cls.__new__(cls)
        Exception.__init__(error, message)
        error.__dict__.update(state)
        return error


class BatchError(ReproductionError):
    """A batch that no method may use: shapes that do not fit, or numbers that are not finite."""


class MissingField(ReproductionError):  # noqa: N818 - named for the field, which is what is missing
    """A method reads a field that this batch does not have. ``field``, ``shape`` and ``provider`` say what to supply."""

    def __init__(self, field: str, shape: str, meaning: str, provider: str) -> None:
        super().__init__(f"the batch has no {field} {shape}: {meaning}", f"provided by {provider}")
        self.field, self.shape, self.provider = field, shape, provider


class ParameterError(ReproductionError):
    """A method or function was given a parameter it does not have or cannot use."""
