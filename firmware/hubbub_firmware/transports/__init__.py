"""How uploads leave a board: HTTPS, MQTT, and 11-byte frames over radio. docs/transports.md says which to take."""
