"""Frames of tiny links in, uploads out, on a host. It keeps nothing that tells one sensor from another."""
