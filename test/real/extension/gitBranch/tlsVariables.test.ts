/** What psql makes of the variables for TLS of an env file whose URL now leads to the local service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { parseEnv, promisify } from 'node:util';
import { findProgram } from '../../../../src/base/programs/findProgram.ts';
import { setVariables } from '../../../../src/extension/envFile/dotEnv.ts';
import { tlsChanges } from '../../../../src/extension/gitBranch/tlsVariables.ts';
import { useBranch } from '../../service/postgres/useBranch.ts';

const STRICT = [
  'PGSSLMODE=verify-full',
  'PGSSLROOTCERT=/nonexistent/root.crt',
  'PGSSLCERT=/nonexistent/client.crt',
  'PGSSLKEY=/nonexistent/client.key',
  'PGSSLCERTMODE=require',
  'PGSSLCRL=/nonexistent/root.crl',
  'PGSSLCRLDIR=/nonexistent',
  'PGSSLMINPROTOCOLVERSION=TLSv1.3',
  'PGSSLMAXPROTOCOLVERSION=TLSv1.3',
  'PGSSLNEGOTIATION=direct',
  'PGSSLSNI=0',
  'PGSSLCOMPRESSION=1',
  'PGREQUIRESSL=1',
  'PGCHANNELBINDING=require',
];

describe('The variables for TLS of a local URL', () => {
  const branch = useBranch();
  const psql = async (text: string) => {
    const env = { PATH: process.env['PATH'], ...parseEnv(text) };
    const { stdout } = await promisify(execFile)(
      findProgram('psql') ?? '',
      ['-XAtc', 'select 1', branch.uri],
      { env },
    );
    return stdout.trim();
  };

  for (const lines of [STRICT, ...STRICT.map((line) => [line])])
    it(`let psql connect: ${lines.join(' ')}`, async function () {
      if (findProgram('psql') === undefined) return this.skip();
      const text = `${lines.join('\n')}\n`;
      if (lines === STRICT) await assert.rejects(psql(text), /root certificate file|sslmode/);
      const changed = setVariables(text, tlsChanges(text, 'PG', branch.uri))?.text;
      assert.ok(changed !== undefined && changed !== text);
      assert.equal(await psql(changed), '1');
    });
});
