"""How far do fakes move what is decoded, and does the screen notice them? Attacks on every mechanism, measured.

Whoever sends some of the reports wants a value that nobody holds to look popular, a range of numbers full, a string to
be listed, or a pair common. Attackers are:

- ``holders``, who encode what they want seen as honest devices do: no test can tell them from devices that hold it;
- ``picked``, who send only what supports it, again and again until a record does;
- ``repeated``, who send one such record, all of them the same.

The modules are named for what is asked: ``frequencies``, ``ranges``, ``lists``, ``pairs``. The last three have
formulas, which the tests hold against decoded reports, and attackers of their own where a better one is known.

Cheu, Smith, Ullman, "Manipulation attacks in local differential privacy", IEEE S&P 2021, shows that no mechanism can
keep fakes from an effect of about 1/epsilon honest devices each.
"""

from hubbub_simulations.poisoning.frequencies import ATTACKS, Damage, attacked, fake_records

__all__ = ["ATTACKS", "Damage", "attacked", "fake_records"]
