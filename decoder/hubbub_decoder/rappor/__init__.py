"""Decodes RAPPOR over Bloom filters: from bit counts and candidates' bits to counts with calibrated errors."""
