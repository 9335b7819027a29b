"""``python -m hubbub_registry`` is ``hubbub``, for where scripts are not on the path."""

import sys

from hubbub_registry.commands import main

if __name__ == "__main__":
    sys.exit(main())
