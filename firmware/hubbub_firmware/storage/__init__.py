"""Where boards keep their state: LittleFS, or the non-volatile storage (NVS) of an ESP32."""
