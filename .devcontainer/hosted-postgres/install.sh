#!/bin/sh
# Installs Postgres, psql and PgBouncer. Starts nothing and creates no database: the local service does that.
set -eu
if command -v apt-get > /dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q
  apt-get install -q -y --no-install-recommends postgresql-common
  sed -i 's/^#*create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
  apt-get install -q -y --no-install-recommends postgresql pgbouncer
  rm -rf /var/lib/apt/lists/*
elif command -v apk > /dev/null; then
  apk add --no-cache postgresql postgresql-client pgbouncer
elif command -v dnf > /dev/null; then
  dnf install -y postgresql-server postgresql pgbouncer
else
  echo 'Install Postgres 15 or newer: this feature knows only apt, apk and dnf' >&2
  exit 1
fi
