/** `npm run service` caches its bundle, but never uses it for a source that has changed. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { projectRoot } from '../../workbench/folders.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;

describe('npm run service', () => {
  let folder: string;
  let bundle: string;

  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-source-'));
    bundle = path.join(folder, 'node_modules/.cache/hosted-postgres/service.mjs');
    await cp(path.join(projectRoot, 'src'), path.join(folder, 'src'), { recursive: true });
    for (const file of ['package.json', 'scripts/withDependencies.mjs'])
      await cp(path.join(projectRoot, file), path.join(folder, file));
    await mkdir(path.join(folder, 'node_modules'));
    for (const name of ['diff', 'esbuild', 'pg', 'postgres-array', 'ws', 'zod']) {
      await symlink(path.join(projectRoot, 'node_modules', name), path.join(folder, 'node_modules', name));
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const command = (...args: string[]) => {
    const inFolder = ['scripts/withDependencies.mjs', 'src/service/fromSource.mjs'];
    return [...inFolder.map((file) => path.join(folder, file)), ...args];
  };
  const help = async (env: NodeJS.ProcessEnv = {}) =>
    (await run(process.execPath, command('--help'), { env: { ...process.env, ...env } })).stdout;

  const change = async (file: string, from: string, to: string) => {
    const text = await readFile(file, 'utf8');
    assert.ok(text.includes(from), `${file} holds ${from}`);
    await writeFile(file, text.replace(from, to));
  };

  it('starts from the cached bundle', async () => {
    assert.match(await help(), /^Usage: service/);
    await change(bundle, 'Usage: service', 'Kept: service');
    assert.match(await help(), /^Kept: service/);
  });

  it('keeps nothing in the temporary folder, where another user could plant code', async () => {
    const shared = path.join(folder, 'shared');
    await mkdir(shared);
    await help({ TMPDIR: shared, TEMP: shared, TMP: shared });
    assert.deepEqual(await readdir(shared), []);
  });

  it(`runs the engine from a folder that only root can read${isRoot ? '' : ' (skipped: needs root)'}`, async function () {
    if (!isRoot) return this.skip();
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
    const args = command('--port', '0', '--api-key', 'k', '--postgres-path', '/nowhere');
    const service = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const errors = text(service.stderr);
    assert.match(String(await once(service.stdout, 'data')), /baseUrl/);
    service.kill('SIGTERM');
    assert.deepEqual(await once(service, 'exit'), [0, null]);
    assert.match(await errors, /^No compute can start\. .* in \/nowhere\.\n$/);
  });

  it('rebuilds a damaged bundle', async () => {
    await writeFile(bundle, 'damaged');
    assert.match(await help(), /^Usage: service/);
  });

  it('rebuilds the bundle if a source file has changed, even with the same size or an older time', async () => {
    const options = path.join(folder, 'src/service/options.ts');
    await change(options, 'Usage: service', 'USAGE: service');
    assert.match(await help(), /^USAGE: service/);
    await change(options, 'USAGE: service', 'Usage: service');
    await utimes(options, new Date(0), new Date(0));
    assert.match(await help(), /^Usage: service/);
  });

  it('installs the dependencies if package-lock.json has changed, and starts on the Node among them', async () => {
    const inFolder = (name: string) => path.join(folder, name);
    const [npm, node] = [inFolder('npm.mjs'), inFolder('node_modules/node/bin/node')];
    await writeFile(
      npm,
      `import fs from 'node:fs';fs.writeFileSync('node_modules/.package-lock.json', '{}');`,
    );
    await mkdir(path.dirname(node), { recursive: true });
    await writeFile(node, `#!/bin/sh\necho on the new Node\nexec '${process.execPath}' "$@"\n`, {
      mode: 0o755,
    });
    await writeFile(inFolder('package-lock.json'), '{}');
    assert.match(await help({ npm_execpath: npm }), /^on the new Node\nUsage: service/);
    assert.match(await help(), /^Usage: service/);
  });

  it('rebuilds the bundle if a source file is missing, and names that file', async () => {
    await rm(path.join(folder, 'src/service/core/serviceClock.ts'));
    await assert.rejects(help(), /serviceClock\.ts/);
  });
});
