"""Texts in a picture: what its font has no glyph for is drawn as a code point, not as an empty box."""

from __future__ import annotations

_NAMED = 10


class Glyphs:
    """The glyphs of the font that matplotlib draws with, and which characters it was found to lack."""

    def __init__(self) -> None:
        from matplotlib.font_manager import FontProperties, findfont, get_font

        self._font = get_font(findfont(FontProperties()))
        self._lacking: dict[str, None] = {}

    def drawn(self, text: str) -> str:
        """``text`` for matplotlib: ``U+1F389`` for what the font lacks, and no formulas."""
        return "".join(map(self._drawn, text)).replace("$", r"\$")

    def notes(self) -> tuple[str, ...]:
        """The key to the code points that were drawn, where there are any."""
        if not self._lacking:
            return ()
        key = ", ".join(f"{_point(each)} is {each}" for each in list(self._lacking)[:_NAMED])
        more = f" and {len(self._lacking) - _NAMED} more" if len(self._lacking) > _NAMED else ""
        return (f"the picture's font lacks some characters, which it shows as code points: {key}{more}",)

    def _drawn(self, character: str) -> str:
        if self._font.get_char_index(ord(character)):
            return character
        self._lacking[character] = None
        return _point(character)


def _point(character: str) -> str:
    return f"U+{ord(character):04X}"
