#!/bin/sh
# The PostgreSQL server that the store for several hosts is tested with, from Debian's or Ubuntu's packages. Does nothing
# where one is there.
set -eu
if command -v pg_ctl >/dev/null || ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1; then
  exit 0
fi
SUDO=""
[ "$(id -u)" = 0 ] || SUDO=sudo
$SUDO apt-get update -q
install() { $SUDO env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$1"; }
# The package would make and start a cluster of its own, which no test needs.
install postgresql-common
$SUDO sed -i 's/^#*create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
install postgresql
