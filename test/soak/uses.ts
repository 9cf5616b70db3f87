/** What a soak does again and again: each use acts as its users do, and throws if something is not as it must be. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { neon, neonConfig } from '@neondatabase/serverless';
import { builtTestLibrary } from '../helpers/builtTestLibrary.ts';
import { branchCalls } from '../helpers/branchCalls.ts';
import { startProgram } from '../helpers/npxProgram.ts';
import { temporaryFolder } from '../helpers/localService.ts';
import { TEST_LIMIT } from '../limits.ts';
import { query } from '../real/service/postgres/clients.ts';
import { projectRoot } from '../workbench/folders.ts';
import { until } from '../workbench/until.ts';
import type { SoakWorld } from './world.ts';

export interface Use {
  readonly name: string;
  /** The pause after it. Seconds. */
  readonly pause: number;
  readonly run: (world: SoakWorld) => Promise<void>;
}

/** The shortest delay that the service allows. Seconds. */
const AUTOSUSPEND = 60;
const PROJECT = '/local-project';
const PG = path.join(projectRoot, 'node_modules/pg/lib/index.js');

let rows = 0;

neonConfig.fetchEndpoint = (host, port) => `http://${host}:${port}/sql`;

export const uses: readonly Use[] = [
  {
    name: 'a client loses no row',
    pause: 5,
    async run({ url }) {
      await query(url, 'insert into soak values (default)');
      rows += 1;
      assert.deepEqual(await query(url, 'select count(*)::int from soak'), [rows]);
    },
  },
  {
    name: 'the serverless driver',
    pause: 7,
    async run({ url }) {
      const sql = neon(url);
      assert.deepEqual(await sql`select ${6} * 7 as answer`, [{ answer: 42 }]);
    },
  },
  {
    name: 'a compute is suspended, shows its schema, and starts for a client',
    pause: 5,
    async run({ service }) {
      const api = branchCalls(service);
      const endpoints = [{ type: 'read_write', suspend_timeout_seconds: AUTOSUSPEND }];
      const created = await api.change('POST', `${PROJECT}/branches`, { branch: {}, endpoints });
      const [compute] = created.endpoints;
      const read = <T>(address: string) => api.send<T>('GET', `${PROJECT}${address}`);
      const state = async () =>
        (await read<{ endpoint: { current_state: string } }>(`/endpoints/${compute?.id}`)).endpoint
          .current_state;
      const url = api.uri(created);
      await query(url, 'create table after_start (id int)');
      await delay((AUTOSUSPEND / 2) * 1000);
      assert.equal(await state(), 'active', 'suspended too early');
      await until('it to be suspended', async () => (await state()) === 'idle');
      const { database } =
        (
          await read<{ databases: { name: string }[] }>(`/branches/${created.branch.id}/databases`)
        ).databases.map(({ name }) => ({ database: name }))[0] ?? assert.fail('no database');
      const { sql } = await read<{ sql: string }>(
        `/branches/${created.branch.id}/schema?db_name=${database}`,
      );
      assert.match(sql, /after_start/);
      assert.equal(await state(), 'idle', 'started by reading the schema');
      await query(url, 'insert into after_start values (1)');
      assert.equal(await state(), 'active');
      await api.change('DELETE', `${PROJECT}/branches/${created.branch.id}`);
    },
  },
  {
    // The memory of a service is 120 to 190 MB after a schema, by what is left of the thread that ran pg_dump, but doesn't grow
    // with 100 of them. So the least of a third of the measurements only means something if many schemas were read in it.
    name: 'a schema is read',
    pause: 1,
    async run({ service }) {
      const address = `${PROJECT}/branches/br-local-main/schema?db_name=app`;
      const { sql } = await branchCalls(service).send<{ sql: string }>('GET', address);
      assert.match(sql, /CREATE TABLE public.soak/);
    },
  },
  {
    name: 'the test library',
    pause: 20,
    async run({ folder }) {
      const code = `const { Client } = require(${JSON.stringify(PG)});
        const { branch } = require(${JSON.stringify(await builtTestLibrary())});
        (async () => {
          const db = await branch({ migrate: 'migrations' });
          const client = new Client(db.url);
          await client.connect();
          console.log((await client.query('insert into item values (1) returning id')).rows[0].id);
          await client.end();
          await db.drop();
        })()`;
      const env = { ...process.env, NEON_API_HOST: '' };
      const options = { cwd: folder, env, timeout: TEST_LIMIT };
      const { stdout } = await promisify(execFile)(process.execPath, ['-e', code], options);
      assert.equal(stdout.trim(), '1');
    },
  },
  {
    name: 'an agent makes, uses and deletes a branch',
    pause: 15,
    async run({ agent }) {
      const { projectId, branchId } = await agent.call('createBranch', {
        projectId: 'local-project',
        hours: 1,
      });
      const branch = { projectId, branchId };
      await agent.call('runSql', { ...branch, sql: 'create table made (id int)', write: true });
      const { rows: found } = await agent.call('runSql', { ...branch, sql: 'select count(*) from made' });
      assert.deepEqual(found, [['0']]);
      await agent.call('deleteBranch', branch);
    },
  },
  {
    name: 'a window shows what others change',
    pause: 10,
    async run({ window, windowService }) {
      const send = (action: string) =>
        branchCalls(windowService).change(
          'POST',
          `/shiny-wind-028834/endpoints/ep-little-smoke-851426/${action}`,
        );
      for (const [action, state] of [
        ['suspend', 'idle'],
        ['start', 'active'],
      ] as const) {
        await send(action);
        await window.viewAction('Computes', 'Refresh');
        await window.computes.waitFor(new RegExp(`^Compute primary, ${state}, .*ep-little-smoke-851426$`));
      }
    },
  },
  {
    name: 'npx around a command of more than a minute',
    pause: 30,
    async run({ npxProgram }) {
      const client = `"${process.execPath}" -e 'const { Client } = require("${PG}"); const c = new Client(process.env.DATABASE_URL); c.connect().then(() => c.query("select 1")).then(() => c.end())'`;
      const args = ['--temporary', '--run', `${client} && sleep 70 && ${client}`];
      const program = startProgram([process.execPath, npxProgram, ...args], temporaryFolder(), os.tmpdir());
      assert.equal(await program.ended, 0, program.output());
    },
  },
];
