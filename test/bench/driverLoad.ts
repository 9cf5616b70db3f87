// What pgbench does, where there is none: clients that ask for one row after another, in a process of their own.
//   PGPASSWORD=… node test/bench/driverLoad.ts PORT USER DATABASE CLIENTS SECONDS
import pg from 'pg';

const [port, user, database, clients, seconds] = process.argv.slice(2);
const config = { host: '127.0.0.1', port: Number(port), user, database, password: process.env.PGPASSWORD };
const connected = await Promise.all(
  Array.from({ length: Number(clients) }, async () => {
    const client = new pg.Client(config);
    await client.connect();
    return client;
  }),
);
const startedAt = performance.now();
const until = startedAt + Number(seconds) * 1000;
const counts = await Promise.all(
  connected.map(async (client) => {
    let count = 0;
    for (; performance.now() < until; count += 1) await client.query({ name: 'one', text: 'select 1' });
    return count;
  }),
);
const taken = (performance.now() - startedAt) / 1000;
console.log(`tps = ${counts.reduce((sum, count) => sum + count) / taken}`);
await Promise.all(connected.map((client) => client.end()));
