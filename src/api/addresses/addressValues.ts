/**
 * Recognizes values that lead to a database of Postgres. How clients spell an address has no end: schemes, drivers before them,
 * keywords in any order. So a value is known by what it names: Postgres, or another service. Any other may be one of Postgres.
 */
import { URL_SCHEME } from './databaseUrl.ts';

/** Matches Postgres in a name or value, such as DB_CONNECTION=pgsql and DB_ENGINE=django.db.backends.postgresql. */
export const POSTGRES = /(?<![a-z])(?:pg|pg?sql|postgres(?:ql)?|postgis)(?![a-z])/i;

/** The words in schemes and names of drivers by which it is certain that they are of something else. */
const OTHER_SERVICES: ReadonlySet<string> = new Set(
  `http https ws wss grpc grpcs otlp unix npipe fd file data blob ftp ftps sftp ssh git svn docker oci socks socks4 socks4a
  socks5 socks5h smtp smtps imap imaps pop3 ldap ldaps sendmail mailgun sendgrid syslog gelf statsd redis rediss valkey valkeys
  memcached memcache amqp amqps kafka nats mqtt mqtts stomp pulsar sqs sb etcd consul zk s3 s3a gs gcs wasb wasbs abfs abfss
  hdfs cloudinary mysql mysql2 mysqli mysqlx mariadb mongodb sqlite sqlite2 sqlite3 libsql mssql sqlserver sqlsrv dblib sybase
  oracle oci8 firebird informix ibm db2 cubrid h2 hsqldb derby cassandra neo4j bolt clickhouse elasticsearch influxdb couchdb
  snowflake bigquery duckdb trino presto databricks dynamodb`.split(/\s+/),
);

const isOtherService = (names: string): boolean =>
  names.split(/[^a-z\d]+/i).some((name) => OTHER_SERVICES.has(name.toLowerCase()));

/**
 * Ports that other services are known by: FTP, SSH, mail, web, LDAP, SQL Server, Oracle, MQTT, MySQL, AMQP, Redis, Kafka,
 * Elasticsearch, memcached and MongoDB. An address with a port that is missing here is replaced, and named.
 */
export const OTHER_PORTS: ReadonlySet<number> = new Set([
  21, 22, 25, 80, 110, 143, 389, 443, 465, 587, 636, 993, 995, 1025, 1433, 1521, 1883, 2525, 3306, 5671, 5672,
  6379, 6380, 8080, 8443, 8883, 9092, 9200, 11_211, 27_017,
]);

/** Matches a URL of Postgres anywhere, also with drivers, as in `r2dbc:pool:postgresql://` and `postgresql+psycopg://`. */
const URL_OF_POSTGRES = new RegExp(`(?<![a-z0-9])${URL_SCHEME}(?:\\+\\w+)*:(?://|(?<=\\bjdbc:\\w+:))`, 'i');
/** The group of a match is all that is before `://`. */
const ANY_URL = /(?<![\w+.:-])([\w+.:-]+):\/\/[^\s"'`<>;]*/g;
/** Matches URLs with a login, or with something after the host, which may be a database. */
const URLS_OF_DATABASES = /:\/\/(?:[^\s"'`<>/?#]*@|[^\s"'`<>/?#]+[/?][^\s"'`<>])/g;
/** Matches the port of Postgres after a host, but not in pairs of ports such as `127.0.0.1:5432:5432`. */
const POSTGRES_PORT = /(?<=[a-z.\]][\w-]{0,63}):5432(?![\d:])/i;
/** Matches a port after a host, as in `host:1` or `host,1`, or under its name. */
const PORT = /(?:(?<=[\w\]]):|,\s*|(?<![\w.-])port["']?\s*[=:]\s*["']?)(\d+)(?=\s*(?:[;/?"'`},]|$)|\s)/gi;

/**
 * Matches the start of keywords of libpq, Npgsql, PDO, DBI and ODBC, and of JSON: `host=… user=…`, `User ID=…;Host=…`,
 * `dbi:Pg:host=…` and `{"host": …`. The group of a match is the driver.
 */
const KEYWORDS = /^[\s"'`{[]*((?:[a-z][\w-]*(?:\([^)]*\))?:\s*)*)["']?[a-z_][a-z_\s]*(?:["']\s*)?[=:]/i;
/** Matches keywords of libpq and Npgsql. Few others write them like this. */
const KEYWORD_OF_POSTGRES = /(?<![\w.?&-])(?:host|hostaddr|dbname|service)\s*=/i;
/** Matches a keyword of Npgsql and of SQL Server. */
const SERVER = /(?:^|;)\s*server\s*=/i;
const keyword = (names: string) => new RegExp(`(?<![\\w.-])(?:${names})["']?\\s*[=:]`, 'gi');
const HOSTS = keyword(
  'host(?:[ _]?name|addr)?|server(?:[ _]?name)?|data ?source|(?:network )?addr(?:ess)?|endpoint|dsn',
);
const LOGINS = keyword(
  'user(?:[ _]?(?:name|id))?|uid|login|pass(?:w(?:or)?d)?|pwd|psw|(?:database|db)(?:[ _]?name)?|initial catalog',
);

/** @param pattern with the flag `g` */
const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

const withoutOtherUrls = (value: string): string =>
  value.replace(ANY_URL, (url, names: string) => (isOtherService(names) ? '' : url));

/** Whether a value is certainly the address of a Postgres database: a URL, a host with its port, or keywords as in `host=…`. */
export function isDatabaseAddress(value: string): boolean {
  if (URL_OF_POSTGRES.test(value)) return true;
  const rest = withoutOtherUrls(value);
  if (POSTGRES_PORT.test(rest)) return true;
  const driver = KEYWORDS.exec(rest)?.[1];
  if (driver === undefined || isOtherService(driver)) return false;
  if (driver === '' && KEYWORD_OF_POSTGRES.test(rest)) return true;
  const hasLogin = count(rest, LOGINS) > 0;
  return POSTGRES.test(driver)
    ? hasLogin || count(rest, HOSTS) > 0
    : hasLogin && count(rest, HOSTS) > 0 && POSTGRES.test(rest);
}

/** Whether a value has the address of something that may be a Postgres database, because neither it nor its port says what it is. */
export function mayBeDatabaseAddress(value: string): boolean {
  const rest = withoutOtherUrls(value);
  const driver = KEYWORDS.exec(rest)?.[1];
  const hasKeywords = driver !== undefined && !isOtherService(driver) && count(rest, LOGINS) > 0;
  const hosts = hasKeywords || SERVER.test(rest) ? count(rest, HOSTS) : 0;
  // JSON may have the hosts of several services.
  const others = [...rest.matchAll(PORT)].filter(([, port]) => OTHER_PORTS.has(Number(port))).length;
  return hosts + count(rest, URLS_OF_DATABASES) > others;
}
