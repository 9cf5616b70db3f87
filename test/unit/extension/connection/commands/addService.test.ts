import { questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import type { Inventory } from '../../../../../src/extension/inventory/inventory.ts';
import { computeRecord } from '../../../../helpers/scriptedService.ts';

const { defaultServiceName, saveService } =
  await import('../../../../../src/extension/connection/commands/addService.ts');

const compute = computeRecord('ep-a', { host: 'ep-a.example.test' });
const login = { role: 'owner', database: 'größe', pooled: true };
const SECTION =
  '[shop]\nhost=ep-a-pooler.example.test\nport=5432\ndbname=größe\nuser=owner\nsslmode=require\n';

describe('saveService', () => {
  const before = process.env['PGSERVICEFILE'];
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = temporaryFolder();
    file = path.join(folder, 'pg_service.conf');
    process.env['PGSERVICEFILE'] = file;
  });
  afterEach(() => {
    if (before === undefined) delete process.env['PGSERVICEFILE'];
    else process.env['PGSERVICEFILE'] = before;
  });

  it('creates a file that only the user can read, also its folder', async () => {
    file = path.join(folder, 'new', 'services');
    process.env['PGSERVICEFILE'] = file;
    assert.equal(await saveService('shop', compute, login), true);
    assert.equal(readFileSync(file, 'utf8'), SECTION);
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  it('keeps text in another encoding, and the permissions', async () => {
    const old = Buffer.from('# gr\xfc\xdfe\n[other]\nhost=a\n', 'latin1');
    writeFileSync(file, old);
    chmodSync(file, 0o644);
    await saveService('shop', compute, login);
    const now = readFileSync(file);
    assert.deepEqual(now.subarray(0, old.length), old);
    assert.equal(now.subarray(old.length).toString(), `\n${SECTION}`);
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o644);
    assert.deepEqual(readdirSync(folder), ['pg_service.conf']);
  });

  for (const [what, create] of [
    ['a link to the file', true],
    ['a link to a file that does not exist yet', false],
  ] as const)
    it(`keeps ${what}`, async function () {
      if (process.platform === 'win32') this.skip(); // Ordinary users can't create links.
      if (create) writeFileSync(path.join(folder, 'dotfile'), '');
      symlinkSync('dotfile', path.join(folder, 'other'));
      symlinkSync('other', file);
      await saveService('shop', compute, login);
      assert.ok(lstatSync(file).isSymbolicLink() && lstatSync(path.join(folder, 'other')).isSymbolicLink());
      assert.equal(readFileSync(path.join(folder, 'dotfile'), 'utf8'), SECTION);
    });

  it('writes and asks nothing if the service is there', async () => {
    await saveService('shop', compute, login);
    const { ino } = statSync(file);
    assert.equal(await saveService('shop', compute, login), true);
    assert.equal(statSync(file).ino, ino);
  });

  it('shows the values that it would replace, without the passwords', async () => {
    writeFileSync(file, '[shop]\nhost=old\npassword=one\nsslpassword=two\n');
    assert.equal(await saveService('shop', compute, login), false);
    assert.equal(
      questions.at(-1),
      `Replace the service entry shop in pg_service.conf? This can't be undone. Current values:\nhost=old\npassword=…\nsslpassword=…`,
    );
  });

  for (const database of ['ö'.repeat(32), 'a\nhost=b'])
    it(`rejects a database called ${JSON.stringify(database)}, which libpq can't read`, async () => {
      await assert.rejects(saveService('shop', compute, { ...login, database }), /over 63 bytes/);
      assert.ok(!existsSync(file));
    });

  it('leaves nothing behind if it fails', async () => {
    process.env['PGSERVICEFILE'] = folder;
    await assert.rejects(saveService('shop', compute, login), /isn't a regular file/);
    assert.ok(existsSync(folder));
    assert.deepEqual(readdirSync(folder), []);
  });
});

describe('defaultServiceName', () => {
  const nameFor = (project: string, name: string) => {
    const inventory = { project: () => ({ name: project }) } as unknown as Inventory;
    return defaultServiceName({ inventory }, { ...compute, name });
  };

  it('is made of the names of the project and the compute', () => {
    assert.equal(nameFor('My shop', 'main'), 'My-shop-main');
  });

  it('is the id of the compute if the names have no usable character', () => {
    assert.equal(nameFor('店', '主'), 'ep-a');
  });
});
