#!/bin/sh
# Installs on Ubuntu what some tests need: PgBouncer, and pgvector for Postgres 18, without a server.
set -eu
sudo apt-get update -q
sudo apt-get install -q -y --no-install-recommends pgbouncer postgresql-common
sudo /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y
cd "$RUNNER_TEMP"
apt-get download postgresql-18-pgvector
dpkg-deb -x postgresql-18-pgvector_*.deb pgvector
echo "TEST_EXTENSIONS=$RUNNER_TEMP/pgvector/usr" >> "$GITHUB_ENV"
