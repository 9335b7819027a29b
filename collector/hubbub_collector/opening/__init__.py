"""The analyst's side of a shuffler: batches of sealed records in, records for a store out."""
