"""Noise as the hardware gives it, one file for each kind. A raw source has:

``name``
    What the trust table knows it by.
``sample_bits``
    How many low bits of each sample are noise, 1 to 8.
``entropy_milli``
    Its assessed min-entropy per sample, in thousandths of a bit: a careful guess from the maker's papers, not a
    validation. The health tests and the number of samples in a seed follow from it.
``ready()``
    Whether what the noise depends on is there: an oscillator that runs, a radio that is on.
``sample(count)``
    ``count`` samples, one in each byte, as they come. Raises OSError where the hardware says that it failed, or says
    nothing for too long: every wait has an end.

Each takes what it reads from as an argument (``machine.mem32`` by default), and touches nothing before it is asked.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class RawSource(Protocol):
        """A raw source, for type checkers; the module's text says what each part promises."""

        name: str
        sample_bits: int
        entropy_milli: int

        def ready(self) -> bool: ...  # noqa: D102
        def sample(self, count: int) -> bytes: ...  # noqa: D102
