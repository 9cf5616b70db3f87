/** The dev container, which needs Docker to run. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../helpers/localService.ts';
import { readText } from '../helpers/projectFiles.ts';
import { projectRoot } from '../workbench/folders.ts';

describe('The dev container', () => {
  it('uses the feature next to it, which brings the extension', () => {
    const config = JSON.parse(readText('.devcontainer/devcontainer.json').replaceAll(/^\/\/.*$/gm, ''));
    assert.deepEqual(Object.keys(config.features), ['./hosted-postgres']);
    const feature = JSON.parse(readText('.devcontainer/hosted-postgres/devcontainer-feature.json'));
    assert.equal(feature.id, 'hosted-postgres', 'the name of its folder');
    const { publisher, name } = JSON.parse(readText('package.json'));
    assert.deepEqual(feature.customizations.vscode.extensions, [`${publisher}.${name}`]);
  });

  for (const [manager, expected] of [
    ['apk', /^apk add .*\bpostgresql\b.*\bpostgresql-client\b.*\bpgbouncer$/m],
    ['dnf', /^dnf install -y .*\bpostgresql-server\b.*\bpgbouncer$/m],
  ] as const) {
    it(`installs Postgres and PgBouncer with ${manager}`, function () {
      if (process.platform === 'win32') return this.skip();
      const programs = temporaryFolder();
      const program = path.join(programs, manager);
      writeFileSync(program, `#!/bin/sh\necho ${manager} "$@"\n`);
      chmodSync(program, 0o755);
      const install = path.join(projectRoot, '.devcontainer/hosted-postgres/install.sh');
      const output = execFileSync('/bin/sh', [install], { env: { PATH: programs }, encoding: 'utf8' });
      assert.match(output, expected);
    });
  }
});
