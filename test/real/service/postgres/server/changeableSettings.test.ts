/** Settings of libraries that the tests' Postgres doesn't have. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { changeableSettings } from '../../../../../src/service/postgres/server/changeableSettings.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { usualPostgres } from '../usualPostgres.ts';

describe('A setting of a library', () => {
  const usual = usualPostgres();
  let root: string;
  beforeEach(() => (root = temporaryFolder()));

  /** Checks a setting for a Postgres with a further folder of libraries. */
  const check = (setting: string, { binaries = usual, libraries = '$libdir' } = {}) =>
    changeableSettings(
      {
        binaries: { ...binaries },
        storage: { root },
        extensionSettings: { dynamic_library_path: ['$libdir', libraries].join(path.delimiter) },
      },
      { id: 'ep-main', minCu: 0.25, pgSettings: { [setting]: 'x' } },
    );

  const contents: readonly (readonly [what: string, file: string, content: string])[] = [
    ['of Rust, whose texts follow each other', 'rusty', 'some textplrust.path_overridethe path'],
    ['that has the names in another case', 'rusty', 'plrust.PATH_override\0'],
    ['that puts the names together', 'plrust', ''],
    ['that puts the names together, and has a version', 'PLRust-1.2.8', ''],
  ];
  for (const [what, file, content] of contents)
    it(`is refused if it may be one ${what}`, async () => {
      writeFileSync(path.join(root, `${file}.so`), content);
      await assert.rejects(check('plrust.path_override', { libraries: root }), (error: Error) => {
        assert.match(error.message, new RegExp(`may belong to the library ${file}, which could do anything`));
        return true;
      });
      await check('plrusty.path_override', { libraries: root });
    });

  it('is looked for where pg_config says that the libraries are', async function () {
    if (process.platform === 'win32') return this.skip();
    const [folder, modules] = [path.join(root, 'bin'), path.join(root, 'modules')];
    for (const each of [folder, modules]) mkdirSync(each, { mode: 0o755 });
    symlinkSync(usual.postgres, path.join(folder, 'postgres'));
    writeFileSync(path.join(modules, 'plpgsql.so'), '');
    writeFileSync(path.join(modules, 'closed.so'), 'another.code\0');
    const binaries = { ...usual, folder };
    await assert.rejects(check('app.tenant', { binaries }), /were not found.*Install its pg_config/);

    const program = path.join(folder, 'pg_config');
    writeFileSync(program, `#!/bin/sh\n[ "$1" = --pkglibdir ] && echo '${modules}'\n`);
    chmodSync(program, 0o755);
    await check('app.tenant', { binaries });
    await assert.rejects(check('another.code', { binaries }), /the library closed, which/);

    // A program that others can change isn't run.
    chmodSync(program, 0o777);
    await assert.rejects(check('app.tenant', { binaries }), /were not found/);
  });
});
