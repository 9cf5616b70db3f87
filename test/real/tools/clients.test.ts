/**
 * Runs the clients of docs/clients.md: those of the project, and of the system what is installed. With CLIENTS_FOLDER, also those
 * that `node scripts/installClients.ts FOLDER` has installed in that folder.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { readText } from '../../helpers/projectFiles.ts';
import { projectRoot } from '../../workbench/folders.ts';
import { startControlPlane, type ControlPlane } from '../service/postgres/controlPlane.ts';
import { CLIENT_PROGRAMS, OTHER_SUITES, PROBES } from './clientPrograms.ts';

const run = promisify(execFile);
const folders = [projectRoot, process.env['CLIENTS_FOLDER'] ?? ''].filter(Boolean);
/** What `neon cs` adds. */
const OPTIONS = '?sslmode=require&channel_binding=require';

const rows = [...readText('docs/clients.md').matchAll(/^\| (`[^|]+?) +\| ([\d.]+) +\| (.+?) +\|$/gm)].map(
  ([, client = '', version = '', result = '']) => ({ client, version, result }),
);

const manifestOf = (folder: string, name: string) => path.join(folder, 'node_modules', name, 'package.json');

function folderOf(client: string): string | undefined {
  const name = CLIENT_PROGRAMS[client]?.package;
  if (name !== undefined) return folders.find((folder) => existsSync(manifestOf(folder, name)));
  return spawnSync('sh', ['-c', PROBES[client] ?? 'false']).status === 0 ? projectRoot : undefined;
}

describe('docs/clients.md', () => {
  it('has each client that a test runs, and no other', () => {
    const tested = [...Object.keys(CLIENT_PROGRAMS), ...Object.keys(OTHER_SUITES)];
    assert.deepEqual(rows.map(({ client }) => client).toSorted(), tested.toSorted());
    for (const [client, suite] of Object.entries(OTHER_SUITES)) {
      const name = client.replaceAll('`', '');
      const { version } = JSON.parse(readFileSync(manifestOf(projectRoot, name), 'utf8')) as {
        version: string;
      };
      assert.equal(version, rows.find((row) => row.client === client)?.version);
      assert.ok(existsSync(path.join(projectRoot, suite)));
    }
  });

  describe('is right about', () => {
    let service: ControlPlane;
    const addresses: string[] = [];
    before(async () => {
      service = await startControlPlane();
      const compute = await service.create();
      addresses.push(await service.uri(compute), await service.uri(compute, true));
    });

    for (const { client, version, result } of rows.filter((row) => row.client in CLIENT_PROGRAMS)) {
      const folder = folderOf(client);
      it(`${client}${folder === undefined ? ' (skipped: not installed)' : ''}`, async function () {
        const { package: name, command } = CLIENT_PROGRAMS[client] ?? {};
        if (folder === undefined || command === undefined) return this.skip();
        if (name !== undefined)
          assert.equal(JSON.parse(readFileSync(manifestOf(folder, name), 'utf8')).version, version);
        const [program, ...args] = command;
        const start = async (url: string, env: NodeJS.ProcessEnv) =>
          (
            await run(program, args, { cwd: folder, env: { ...process.env, ...env, URL: url } })
          ).stdout.trim();
        const trusts = { NODE_EXTRA_CA_CERTS: path.join(service.dataDir, 'postgres/tls/server.crt') };
        const needsTrust = result === 'works with `NODE_EXTRA_CA_CERTS`';
        if (!needsTrust) assert.equal(result, 'works');
        for (const [index, address] of addresses.entries()) {
          // PgBouncer has no channel binding.
          const isShared = index === 1 && service.engine.pooledSessions === 'shared';
          const url = address + (isShared ? OPTIONS.replace('&channel_binding=require', '') : OPTIONS);
          const env = { JDBC_BINDING: isShared ? 'prefer' : 'require' };
          assert.equal(await start(url, { ...env, ...(needsTrust && trusts) }), '42');
          if (needsTrust) await assert.rejects(start(url, env), /self.signed/i);
        }
      });
    }
  });
});
