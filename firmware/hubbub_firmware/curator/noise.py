"""Exact discrete noise from OpenDP: the samplers of Canonne, Kamath and Steinke (2020), in integers of any length.

The scale goes over as a float, which is exact, since the registry rounds it to 32 significant bits. The library adds
the noise to the value in integers without bounds, and cuts the sum off at 64 bits at the end only; cutting off what is
already noisy is post-processing, and the chance of it is below 2^-300000. docs/curator.md says why this library.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from hubbub_firmware.curator.errors import NoiseError
from hubbub_registry.curator import Curated

# Adds noise, new for each call, to one cell.
AddNoise = Callable[[int], int]
# Sums stay within 2^53 by the registry; nothing beyond this may go over to a library of 64 bits.
_LARGEST = 1 << 62


def add_noise_of(curated: Curated) -> AddNoise:
    """What makes one cell of ``curated`` noisy. Raises NoiseError where the library is missing or refuses."""
    try:
        from opendp.domains import atom_domain
        from opendp.measurements import make_gaussian, make_laplace
        from opendp.metrics import absolute_distance
        from opendp.mod import OpenDPException, enable_features
    except (ImportError, OSError) as error:
        raise NoiseError(
            f"exact noise needs the package opendp, which is not installed or does not load here ({error}); run: "
            "pip install 'hubbub[curator]'"
        ) from error
    scale = float(curated.scale)
    if not scale > 0 or Fraction(scale) != curated.scale:
        raise NoiseError(f"curated.{curated.name}: its scale is no float, so the noise would not be the declared one")
    enable_features("contrib")
    try:
        if curated.gaussian:
            measurement = make_gaussian(atom_domain(T="i64"), absolute_distance(T="f64"), scale)
        else:
            measurement = make_laplace(atom_domain(T="i64"), absolute_distance(T="i64"), scale)
    except OpenDPException as error:
        raise NoiseError(f"curated.{curated.name}: opendp refuses its noise: {error}") from error

    def add_noise(value: int) -> int:
        if abs(value) > _LARGEST:
            raise NoiseError(f"curated.{curated.name}: a sum is beyond 62 bits, which its bounds exclude")
        try:
            noisy = measurement(value)
        except OpenDPException:  # no random numbers; its text may hold the value
            raise NoiseError(f"curated.{curated.name}: opendp failed to draw noise") from None
        if type(noisy) is not int:
            raise NoiseError(f"curated.{curated.name}: opendp gave {type(noisy).__name__}, not an integer")
        return noisy

    return add_noise
