"""One program and what it reaches of the library, linked into one module and a few that come and go. Host only.

A board pays for every module, function and name by its being there, besides its code. What is linked is the source tree
as it lies, and each step is mechanical: ``sources`` reads it, ``computed`` resolves imports by a computed name,
``messages`` puts texts of errors into a file, ``linking`` joins the modules, ``pruning`` leaves out what nothing
reaches, ``constants`` writes values where they are used, ``methods`` and ``raised`` make functions of methods and one
class of many, ``overlays`` and ``reach`` set apart what runs now and then (``recipe`` says what), and ``renaming``
shortens names, never one of ``foreign``. docs/firmware-memory.md says what each saves.
"""
