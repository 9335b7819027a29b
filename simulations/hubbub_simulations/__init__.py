"""Fleets, accuracy studies and benchmarks: many simulated devices, their errors held against theory, and speed.

Noise here comes from numpy's generators. That is right for a simulation and never for a device.
"""
