// Does the same as `pgbench -S` if pgbench is not installed: each client reads one row after the other.
//   PGPASSWORD=… node test/bench/driverLoad.ts PORT USER DATABASE CLIENTS SECONDS
import pg from 'pg';

const [port, user, database, clients, seconds] = process.argv.slice(2);
const config = { host: '127.0.0.1', port: Number(port), user, database, password: process.env.PGPASSWORD };
const connections = await Promise.all(
  Array.from({ length: Number(clients) }, async () => {
    const client = new pg.Client(config);
    await client.connect();
    return client;
  }),
);
const startedAt = performance.now();
const endAt = startedAt + Number(seconds) * 1000;
const counts = await Promise.all(
  connections.map(async (client) => {
    let count = 0;
    for (; performance.now() < endAt; count += 1) await client.query({ name: 'one', text: 'select 1' });
    return count;
  }),
);
const elapsed = (performance.now() - startedAt) / 1000;
console.log(`tps = ${counts.reduce((sum, count) => sum + count) / elapsed}`);
await Promise.all(connections.map((client) => client.end()));
