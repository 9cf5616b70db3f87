// Replaces `pgbench -S` if pgbench is not installed: each client reads one row after the other.
//   PGPASSWORD=… node test/bench/driverLoad.ts PORT USER DATABASE CLIENTS TRANSACTIONS
import pg from 'pg';

const [port, user, database, clients, transactions] = process.argv.slice(2);
const config = { host: '127.0.0.1', port: Number(port), user, database, password: process.env.PGPASSWORD };
const connections = await Promise.all(
  Array.from({ length: Number(clients) }, async () => {
    const client = new pg.Client(config);
    await client.connect();
    return client;
  }),
);
const perClient = Math.round(Number(transactions) / Number(clients));
const startedAt = performance.now();
await Promise.all(
  connections.map(async (client) => {
    for (let count = 0; count < perClient; count += 1) await client.query({ name: 'one', text: 'select 1' });
  }),
);
const elapsed = (performance.now() - startedAt) / 1000;
console.log(`tps = ${(perClient * connections.length) / elapsed}`);
await Promise.all(connections.map((client) => client.end()));
