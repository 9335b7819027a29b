"""What keeps a worker within its memory, whoever sends to it and however slowly."""
