/** What drivers send in their start-up packet, as on the public service: `neon cs` adds `channel_binding`, Prisma `pool_timeout`. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import postgres from 'postgres';
import { int32 } from '../../../../helpers/postgresConversation.ts';
import { connectTo, query } from '../clients.ts';
import { useBranch } from '../useBranch.ts';

const SSL_REQUEST = Buffer.concat([int32(8), int32(80877103)]);

describe('start-up parameters', () => {
  const branch = useBranch({}, { withoutPgBouncer: true });
  // A start of Postgres may take longer than drivers wait for a connection.
  before(() => query(branch.uri, 'select 1'));

  for (const parameters of [
    'sslmode=require&channel_binding=require',
    'sslmode=disable&channel_binding=prefer',
    'sslmode=require&pgbouncer=true&pool_timeout=5&connect_timeout=15',
    'sslmode=require&options=endpoint%3Dep-cool-1',
  ])
    it(`let postgres.js connect with ${parameters}`, async () => {
      const sql = postgres(`${branch.uri}?${parameters}`, { max: 1 });
      const [row] = await sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
      assert.equal(row?.['ssl'], parameters.includes('require'));
      await sql.end();
    });

  it('take settings from options only, over TLS and without', async () => {
    for (const ssl of [false, { rejectUnauthorized: false }]) {
      const options = '-c work_mem=7MB project=p -c statement_timeout=1234 neon_endpoint_type:read_only';
      const client = await connectTo(branch.uri, { ssl, options, lock_timeout: 9, application_name: 'mine' });
      const names = ['work_mem', 'statement_timeout', 'lock_timeout', 'application_name'];
      const { rows } = await client.query(
        "select string_agg(current_setting(name), ' ' order by at) as all from unnest($1::text[]) with ordinality as n (name, at)",
        [names],
      );
      assert.deepEqual(rows, [{ all: '7MB 1234ms 0 mine' }]);
      await client.end();
    }
  });

  it('may name the compute in a request of the serverless driver', async () => {
    const headers = {
      'neon-connection-string': `${branch.uri}?options=endpoint%3Dep-cool-1&channel_binding=require`,
    };
    const body = JSON.stringify({ query: 'select 1 as one' });
    const reply = await fetch(`http://127.0.0.1:${branch.compute.address.port}/sql`, {
      method: 'POST',
      headers,
      body,
    });
    assert.match(await reply.text(), /"rows":\[\{"one":1\}\]/);
  });

  it('are the only place for the name of the compute, because a password is taken as it is', async () => {
    const withEndpoint = branch.uri.replace(/:([^:@/]+)@/, ':endpoint=ep-x;$1@');
    assert.notEqual(withEndpoint, branch.uri);
    await assert.rejects(query(withEndpoint, 'select 1'), { code: '28P01' });
  });

  it('are an error if they are malformed, or ask for another moment', async () => {
    const start = async (body: string, isSecure: boolean) => {
      const raw = net.connect(branch.compute.address.port, '127.0.0.1');
      let socket: net.Socket = raw;
      if (isSecure) {
        raw.write(SSL_REQUEST);
        await once(raw, 'data');
        socket = tls.connect({ socket: raw, rejectUnauthorized: false });
      }
      const packet = Buffer.concat([int32(8 + Buffer.byteLength(body)), int32(0x30000), Buffer.from(body)]);
      socket.write(packet);
      const [answer] = await once(socket, 'data');
      socket.destroy();
      return String(answer);
    };
    for (const isSecure of [false, true]) {
      const login = 'user\0app_owner\0database\0app\0';
      assert.match(await start(`${login}options\0-c log_statement=all\0`, isSecure), /^E.*FATAL.*08P01/s);
      assert.match(await start(`${login}options\0neon_lsn:0/1\0\0`, isSecure), /^E.*FATAL.*neon_lsn/s);
      // What isn't handed on reaches no one: not even the error for a setting that only superusers change.
      assert.match(await start(`${login}log_statement\0all\0role\0postgres\0\0`, isSecure), /^R.*SCRAM/s);
    }
  });

  it('do not open the replication protocol, another database or role', async () => {
    const strange = branch.uri.replace('/app_owner:', '/postgres:');
    await assert.rejects(query(strange, 'select 1'), { code: '28P01' });
    await assert.rejects(connectTo(branch.uri, { replication: 'true' } as object), { code: /28000|42501/ });
  });
});
