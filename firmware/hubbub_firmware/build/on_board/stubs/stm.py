"""Stands in for an STM32's ``stm``: where its RNG peripheral is."""

RNG = 0x50060800
