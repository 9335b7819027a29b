"""Who may send: tokens, what each may contribute, and how much of that is used up."""
