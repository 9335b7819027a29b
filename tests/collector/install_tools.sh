#!/bin/sh
# A C compiler (a test makes fsync fail) and nginx (a test runs the documented proxy), from Debian's or Ubuntu's packages.
# Does nothing where both are there.
set -eu
SUDO=""
[ "$(id -u)" = 0 ] || SUDO=sudo
missing=""
command -v cc >/dev/null || missing="gcc libc6-dev"
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || missing="$missing nginx-light"
[ -n "$missing" ] || exit 0
$SUDO apt-get update -q
# The package would start a server of its own, which no test needs.
# shellcheck disable=SC2086 # several words
RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive $SUDO apt-get install -q -y --no-install-recommends $missing
