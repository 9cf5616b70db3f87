/** What a user's environment may contain for another server, and what must not reach it. */
export const ANOTHER_SERVER = {
  PGHOST: 'another.invalid',
  PGHOSTADDR: '127.0.0.9',
  PGPORT: '9',
  PGSERVICE: 'another',
  PGSSLMODE: 'require',
  PGSSLNEGOTIATION: 'direct',
  PGOPTIONS: '-c another=1',
  PGREPLICATION: 'database',
  POSTGRES_HOST: 'another.invalid',
  POSTGRES_URL: 'postgresql://another.invalid/app',
  DATABASE_URL_UNPOOLED: 'postgresql://another.invalid/app',
  SHADOW_DATABASE_URL: 'postgresql://another.invalid/shadow',
  JDBC_DATABASE_URL: 'jdbc:postgresql://another.invalid/app',
  NODE_USE_ENV_PROXY: '1',
  HTTP_PROXY: 'http://127.0.0.1:9',
};
