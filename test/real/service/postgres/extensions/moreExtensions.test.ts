/** A folder of extensions that the user has chosen: a packaged one, moved there under another name. */
import assert from 'node:assert/strict';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import {
  findMoreExtensions,
  readExtensionsFolder,
} from '../../../../../src/service/postgres/extensions/moreExtensions.ts';
import {
  MORE_OWNER_EXTENSIONS,
  packagedExtensionsFolder,
} from '../../../../../src/service/postgres/extensions/ownerExtensions.ts';
import { chooseBinaries, findPrograms } from '../../../../../src/service/postgres/server/programs.ts';
import { connectTo, query } from '../clients.ts';
import { startControlPlane } from '../controlPlane.ts';

describe('extensions in a folder of the user', function () {
  const binaries = chooseBinaries(findPrograms(undefined));
  if (typeof binaries === 'string' || binaries.major < 18 || process.platform !== 'linux') {
    it('need Postgres 18 on Linux here');
    return;
  }
  const share = packagedExtensionsFolder(binaries.folder, binaries.major) ?? '';
  let folder: string;
  let library: string;
  beforeEach(() => {
    folder = temporaryFolder();
    chmodSync(folder, 0o755);
    for (const name of ['extension', 'lib']) mkdirSync(path.join(folder, name), { mode: 0o755 });
    library = path.join(folder, 'lib', 'moved.so');
    cpSync(path.join(binaries.folder, '../lib/postgresql/unaccent.so'), library);
    const put = (name: string, text: string) => writeFileSync(path.join(folder, 'extension', name), text);
    put(
      'moved.control',
      "default_version = '1'\nmodule_pathname = '$libdir/moved'\nrelocatable = true\ntrusted = true\n",
    );
    put('untrusted.control', "default_version = '1'\n");
    // Names of extensions that the public service lets owners create.
    for (const name of ['vector', 'hypopg'])
      put(`${name}.control`, "default_version = '1'\nrelocatable = true\n");
    put('vector--1.sql', '\\echo "not by psql" \\quit\ncreate type vector as (x float8, y float8);');
    // A comment with an apostrophe at its end hides nothing.
    put('hypopg--1.sql', "create type h as (x int); -- 'odd'\nselect 1; -- '\ncreate type i as (x int);");
    put('untrusted--1.sql', 'select 1;');
    put(
      'moved--1.sql',
      readFileSync(path.join(share, 'unaccent--1.1.sql'), 'utf8')
        .replace('.control', '')
        .replace(/^\\.*$/gm, ''),
    );
    // The folder must not replace what is in the package.
    put('citext.control', "default_version = '666'\ntrusted = true\n");
  });
  const problem = () => readExtensionsFolder(folder, binaries).problem ?? '';

  it('are created by owners if they are trusted, and named once in the log', async () => {
    const service = await startControlPlane({ extensionsDir: folder });
    const uri = await service.uri(await service.create());
    await query(uri, 'create extension moved');
    assert.deepEqual(await query(uri, "select unaccent('Hôtel')"), ['Hotel']);
    await query(uri, 'create extension vector');
    assert.deepEqual(await query(uri, "select ('(1,2)'::vector).y"), [2]);
    // Its script could run hostile functions as superuser.
    for (const name of ['untrusted', 'hypopg'])
      await assert.rejects(query(uri, `create extension ${name}`), { code: '42501' });
    await query(uri, 'create extension citext');
    assert.notDeepEqual(await query(uri, "select extversion from pg_extension where extname = 'citext'"), [
      '666',
    ]);
    await assert.rejects(query(uri, "load 'moved'"), { code: '42501' });
    const lines = service.log.filter((line) => line.includes('Extensions in '));
    assert.deepEqual(lines, [`Extensions in ${folder}: hypopg, moved, untrusted, vector`]);
  });

  it('are used although a library is empty, cut or damaged, or a link is broken', () => {
    writeFileSync(path.join(folder, 'lib', 'empty.so'), '');
    writeFileSync(path.join(folder, 'lib', 'cut.so'), readFileSync(library).subarray(0, 100));
    // Their headers, of Windows and macOS, lead behind their end.
    for (const [name, start] of Object.entries({ 'damaged.dll': '4d5a', 'damaged.dylib': 'cafebabe' }))
      writeFileSync(
        path.join(folder, 'lib', name),
        Buffer.concat([Buffer.from(start, 'hex'), Buffer.alloc(2000, 0xff)]),
      );
    symlinkSync('removed.so.1', path.join(folder, 'lib', 'broken.so'));
    assert.equal(problem(), '');
    // Another user could create what the link leads to.
    symlinkSync('/tmp/removed.so.1', path.join(folder, 'lib', 'broken2.so'));
    assert.match(problem(), /other users can change \/tmp/);
  });

  it('are created by owners if the user trusts them, unless they are only for superusers', async () => {
    const put = (name: string, text: string) => writeFileSync(path.join(folder, 'extension', name), text);
    put('adminpack.control', "default_version = '1'\n");
    put('adminpack--1.sql', 'select 1;');
    const trustedExtensions = ['untrusted', 'hypopg', 'adminpack', 'file_fdw', '../x'];
    const service = await startControlPlane({ extensionsDir: folder, trustedExtensions });
    const uri = await service.uri(await service.create());
    for (const name of ['untrusted', 'hypopg']) await query(uri, `create extension ${name}`);
    for (const name of ['adminpack', 'file_fdw'])
      await assert.rejects(query(uri, `create extension ${name}`), { code: '42501' });
    assert.deepEqual(
      service.log.filter((line) => line.startsWith("Owners can't create")),
      [
        'Owners can\'t create the extension "adminpack": only superusers may create it',
        'Owners can\'t create the extension "file_fdw": none of these folders has it, or Postgres has its own',
        'Owners can\'t create the extension "../x": none of these folders has it, or Postgres has its own',
      ],
    );
  });

  it('are created by owners from scripts like those of the real ones, and updated', async () => {
    const put = (file: string, text: string) => writeFileSync(path.join(folder, 'extension', file), text);
    put('vector.control', "default_version = '2'\nrelocatable = true\n");
    put('vector--1--2.sql', '\\echo "not by psql" \\quit\ncomment on type vector is \'updated\';');
    // As in semver and hypopg.
    put('semver.control', "default_version = '1'\n");
    put(
      'semver--1.sql',
      "SET client_min_messages TO warning;\nSET log_min_messages    TO warning;\nset local client_encoding = 'UTF8';\ncreate function g() returns text language sql as 'select 1';",
    );
    // As in hll, which has only a script of an old version, and updates.
    put('hll.control', "default_version = '1.2'\n");
    put('hll--1.0.sql', 'create function f() returns int language sql as $$ select 1 $$;');
    put('hll--1.0--1.1.sql', 'ALTER FUNCTION f() PARALLEL SAFE;\n');
    put(
      'hll--1.1--1.2.sql',
      'create aggregate a(int) (sfunc = int4larger, stype = int);\ndrop aggregate a(int);',
    );
    // Updates that do more aren't offered, and neither are versions that only they reach.
    put('vector--2--3.sql', 'do $$ begin perform 1; end $$;');
    put('prefix.control', "default_version = '2'\n");
    put('prefix--1.sql', 'create type prefix_range as (x int);');
    put('prefix--1--2.sql', 'alter function f() owner to app_owner;');
    put('prefix--0--2.sql', '\\i prefix.sql');
    const service = await startControlPlane({ extensionsDir: folder });
    const uri = await service.uri(await service.create());
    for (const name of ['vector', 'hll']) await query(uri, `create extension ${name}`);
    // Errors with data of the session must not be logged afterwards.
    const client = await connectTo(uri);
    const setting = async () => (await client.query('show log_min_messages')).rows;
    const before = await setting();
    await client.query('create extension semver');
    assert.deepEqual(await setting(), before);
    await client.end();
    await query(uri, 'drop extension vector');
    await query(uri, 'create extension vector version "1"');
    await query(uri, 'alter extension vector update');
    const comment = await query(uri, "select obj_description('vector'::regtype)");
    assert.deepEqual(comment, ['updated']);
    await assert.rejects(query(uri, "alter extension vector update to '3'"), /no update path/);
    await assert.rejects(query(uri, 'create extension prefix'), { code: '42501' });
  });

  it('run nothing of a hostile schema as superuser', async () => {
    // Each extension that owners create from such a folder, with a script that does more than define what they call.
    assert.deepEqual(Object.keys(SCRIPTS).toSorted(), MORE_OWNER_EXTENSIONS.toSorted());
    for (const [name, script] of Object.entries(SCRIPTS)) {
      const put = (file: string, text: string) => writeFileSync(path.join(folder, 'extension', file), text);
      put(`${name}.control`, "default_version = '1'\nrelocatable = true\n");
      put(`${name}--1.sql`, script);
    }
    const service = await startControlPlane({ extensionsDir: folder });
    const uri = await service.uri(await service.create());
    for (const sql of TRAP) await query(uri, sql);
    for (const name of MORE_OWNER_EXTENSIONS)
      await assert.rejects(
        query(uri, `create extension "${name}" schema trap`),
        // Postgres takes over no function of a user.
        { code: name === 'vector' ? '55000' : '42501' },
        name,
      );
    const superusers = await query(uri, 'select rolname::text from pg_roles where rolsuper');
    assert.deepEqual(superusers, ['postgres']);
  });

  it('are found in another Postgres 18 on the machine', () => {
    const place = { share: folder, lib: path.join(folder, 'lib') };
    const own = { share: path.dirname(share), lib: path.join(binaries.folder, '../lib/postgresql') };
    const places = [{ share: '/nowhere', lib: '/nowhere' }, own, place];
    const found = (choice = {}) => findMoreExtensions(choice, binaries, places);
    const installed = { installedExtensions: true };
    assert.deepEqual(found(), []);
    assert.deepEqual(found(installed), [{ ...place, names: ['hypopg', 'moved', 'untrusted', 'vector'] }]);
    // A folder that the user has chosen is the only one.
    assert.match(found({ ...installed, extensionsDir: '/nowhere' })[0]?.problem ?? '', /ENOENT/);
    assert.deepEqual(findMoreExtensions(installed, { ...binaries, major: 17 }, places), []);
    chmodSync(library, 0o777);
    assert.match(found(installed)[0]?.problem ?? '', /^other users can change /);
    chmodSync(library, 0o755);
    // As Homebrew lays them out.
    const prefix = path.join(folder, 'prefix');
    for (const part of ['share/postgresql@18/extension', 'lib/postgresql@18'])
      mkdirSync(path.join(prefix, part), { recursive: true });
    cpSync(path.join(folder, 'extension'), path.join(prefix, 'share/postgresql@18/extension'), {
      recursive: true,
    });
    cpSync(library, path.join(prefix, 'lib/postgresql@18/moved.so'));
    const { names, lib } = readExtensionsFolder(prefix, binaries);
    assert.deepEqual([names.length, lib], [4, path.join(prefix, 'lib/postgresql@18')]);
    // As in packages of distributions, which may also be unpacked there.
    for (const [distribution, shareIn, libIn] of [
      ['debian', 'share/postgresql/18', 'lib/postgresql/18/lib'],
      ['fedora', 'share/pgsql', 'lib64/pgsql'],
      ['arch', 'share/postgresql', 'lib/postgresql'],
    ] as const) {
      const usr = path.join(folder, distribution);
      const place = { share: path.join(usr, shareIn), lib: path.join(usr, libIn) };
      cpSync(path.join(prefix, 'share/postgresql@18'), place.share, { recursive: true });
      cpSync(path.join(prefix, 'lib/postgresql@18'), place.lib, { recursive: true });
      assert.deepEqual(readExtensionsFolder(usr, binaries), { ...place, names });
    }
  });

  it('are not used if the machine or version differs', () => {
    assert.equal(problem(), '');
    const original = readFileSync(library);
    const patched = (change: (copy: Buffer) => void) => {
      const copy = Buffer.from(original);
      change(copy);
      writeFileSync(library, copy);
      return problem();
    };
    assert.match(
      patched((copy) => copy.writeUInt16LE(40, 18)),
      /moved\.so isn't for linux/,
    );
    const version = original.indexOf('PostgreSQL\0') - 20;
    assert.match(
      patched((copy) => copy.writeInt32LE(1700, version)),
      /is for Postgres 17, not 18/,
    );
    // No library, so Postgres can't load it either.
    assert.equal(
      patched((copy) => copy.fill('text')),
      '',
    );
    assert.match(
      readExtensionsFolder(folder, { ...binaries, major: 17 }).problem ?? '',
      /Postgres 17 can't read them/,
    );
  });

  it('are not used if other users can change a file or folder, or if the folder has none', () => {
    for (const part of ['', 'lib', 'extension', 'lib/moved.so', 'extension/moved--1.sql']) {
      const file = path.join(folder, part);
      chmodSync(file, 0o777);
      assert.match(problem(), /^other users can change /, part);
      chmodSync(file, 0o755);
    }
    rmSync(path.join(folder, 'extension'), { recursive: true });
    assert.match(problem(), /ENOENT/);
  });
});

/** A function that makes the owner a superuser when a superuser calls it. */
const TRAP = [
  'create schema trap',
  `create function trap.spring(int) returns boolean language plpgsql as $$
    begin execute 'alter role app_owner superuser'; return true; end $$`,
];

const SCRIPTS: Readonly<Record<string, string>> = {
  h3: 'select spring(1);',
  hll: 'create table t as select spring(1);',
  hypopg: 'do $$ begin perform spring(1); end $$;',
  pg_uuidv7: 'create table t (n int); insert into t values (spring(1)::int);',
  prefix: 'create function f() returns int language sql as $$ select 1 $$; alter role app_owner superuser;',
  roaringbitmap: 'create materialized view v as select spring(1);',
  semver: 'create type s as (n int); update pg_type set typname = typname where spring(1);',
  vector: 'create or replace function spring(int) returns boolean language sql as $$ select true $$;',
};
