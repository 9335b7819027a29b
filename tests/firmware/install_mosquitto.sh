#!/bin/sh
# The MQTT broker that the bridge is tested with, from Debian's or Ubuntu's packages. Does nothing where it is there.
set -eu
if command -v mosquitto >/dev/null || [ -x /usr/sbin/mosquitto ]; then
  exit 0
fi
SUDO=""
[ "$(id -u)" = 0 ] || SUDO=sudo
$SUDO apt-get update -q
# The package would start a broker of its own, which no test needs.
RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive $SUDO apt-get install -q -y --no-install-recommends mosquitto
