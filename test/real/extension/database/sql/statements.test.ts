/** Statements that only read: none is refused, and the role that reads sees what the owner sees. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { runSql } from '../../../../../src/extension/agents/runSql.ts';
import { SETUP } from '../../../../helpers/hostileSql.ts';
import { MORE_TABLES, PSQL_COMMANDS, READ_STATEMENTS } from '../../../../helpers/readStatements.ts';
import { installedPostgres, runStatements } from '../../../service/postgres/clients.ts';
import { useBranch } from '../../../service/postgres/useBranch.ts';
import { readerOf } from './readerOf.ts';
import type { BranchLogin } from '../../../../../src/extension/connection/sqlSession.ts';

const never = new AbortController().signal;
const psql = installedPostgres();
const reason = psql === undefined ? ' (skipped: needs psql)' : '';
/** What differs between roles and moments. */
const DIFFERS =
  /current_user|information_schema|pg_stat|pg_locks|show all|pg_settings|timing|analyze|labels|pg_backend_pid|now\(\)|gen_random|has_table_privilege/i;

describe('The statements of a reader', () => {
  const branch = useBranch();
  let login: BranchLogin;
  let owner: BranchLogin;
  before(async () => {
    await runStatements(branch.uri, SETUP, MORE_TABLES);
    login = await readerOf(branch.service, branch.compute);
    const { host, username: role, password } = new URL(branch.uri);
    owner = { host, role, password, database: 'app' };
  });

  const read = async (by: BranchLogin, sql: string) =>
    (await runSql(by, { sql, write: false, maxRows: 1000 }, never)).rows;

  /** @param mayFail whether the statement is of a psql that is older than the server */
  async function isReadAsByOwner(sql: string, mayFail: boolean): Promise<boolean> {
    const expected = await read(owner, sql).catch((error: unknown) => String(error));
    if (mayFail && typeof expected === 'string') return false;
    const rows = await read(login, sql).catch((error: unknown) => String(error));
    if (typeof expected === 'string' || typeof rows === 'string') assert.fail(`${sql}: ${String(rows)}`);
    if (!DIFFERS.test(sql)) assert.deepEqual(rows, expected, sql);
    return true;
  }

  it('run, and return what they return to the owner', async () => {
    assert.equal(new Set(READ_STATEMENTS).size, READ_STATEMENTS.length);
    for (const sql of READ_STATEMENTS) await isReadAsByOwner(sql, false);
  });

  it(`run if psql's commands make them${reason}`, async function () {
    if (psql === undefined) return this.skip();
    const script = PSQL_COMMANDS.flatMap((command) => ['-c', command]);
    const { stdout } = await promisify(execFile)(`${psql}/psql`, ['-XE', '-d', branch.uri, ...script], {
      maxBuffer: 1e9,
    });
    const queries = [...stdout.matchAll(/^\*+ QUERY \*+\n([^]*?)\n\*{20,}$/gm)].map(([, sql = '']) =>
      sql.trim(),
    );
    let count = READ_STATEMENTS.length;
    for (const sql of new Set(queries)) if (await isReadAsByOwner(sql, true)) count += 1;
    assert.ok(count >= 250, `${count} statements`);
  });
});
