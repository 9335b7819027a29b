"""The commands `hubbub collect` and `hubbub seal`."""
