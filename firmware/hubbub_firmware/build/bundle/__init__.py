"""One program and what it reaches of the library, linked into one module and a few that come and go. Host only.

A board pays for every module, function and name by its being there, besides its code. Here the parts are the ones that
lie in the source tree, and each step is mechanical: ``sources`` reads them, ``overlays`` sets apart what runs now and
then, ``linking`` joins them, ``constants`` and ``messages`` take out what need not be in memory, ``reach`` leaves out
what nothing reaches, ``renaming`` shortens names. docs/firmware-memory.md says what each saves.
"""
