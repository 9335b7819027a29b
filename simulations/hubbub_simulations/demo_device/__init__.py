"""Boards from nothing: a built folder on the real interpreter reports a real series over HTTP and MQTT."""
