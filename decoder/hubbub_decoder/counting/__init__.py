"""From records to states: small sums that can be merged, whatever the number of reports."""
