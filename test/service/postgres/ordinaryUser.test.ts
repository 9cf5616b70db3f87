import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { canReach, nobody } from '../../../src/service/engineProcess/unixAccount.ts';

const account = process.getuid?.() === 0 ? nobody() : undefined;
const mocha = createRequire(import.meta.url).resolve('mocha/bin/mocha.js');
const why =
  account === undefined
    ? ' (skipped: every test here runs as one)'
    : canReach(import.meta.filename, account) && canReach(process.execPath, account)
      ? ''
      : ' (skipped: the project is closed to other users)';

describe(`engine of an ordinary user${why}`, function () {
  this.timeout(300_000);

  it('passes the tests of gateway and access', function () {
    if (why !== '') return this.skip();
    const files = ['network/gateway.test.ts', 'access.test.ts'].map((name) =>
      path.join(import.meta.dirname, name),
    );
    const { status, stdout, stderr } = spawnSync(process.execPath, [mocha, ...files], {
      ...account,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    });
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, /\d+ passing/);
  });
});
