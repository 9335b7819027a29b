"""What takes uploads from a message broker to the collector, on a host."""
