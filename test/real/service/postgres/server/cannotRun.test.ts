/** What users read if Postgres can't run on a machine, by the exit codes and messages that systems other than this one give. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { asciiPath } from '../../../../../src/service/postgres/server/asciiPath.ts';
import {
  describeExit,
  describeProgramFailure,
} from '../../../../../src/service/postgres/server/cannotRun.ts';
import { sharedMemorySettings } from '../../../../../src/service/postgres/server/settings.ts';
import {
  ensureClusterTemplate,
  type EngineDependencies,
} from '../../../../../src/service/postgres/template/clusterTemplate.ts';
import { createUsableFolder } from '../../../../../src/service/state/dataDirectory.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { onPlatform } from '../../../../helpers/onPlatform.ts';

/** For each system: how a program ended, and the message. */
const FAILURES: readonly (readonly [NodeJS.Platform, object, RegExp])[] = [
  [
    'win32',
    { status: 0xc0000135 },
    /lacks the Visual C\+\+ runtime \(0xC0000135\)\. Install .* https:\/\/aka\.ms\/\S+vc_redist\.x64\.exe\.$/,
  ],
  ['win32', { status: 0xc0000135 | 0 }, /lacks the Visual C\+\+ runtime/],
  ['win32', { status: 0xc0000139 }, /runtime is too old \(0xC0000139\)\. Install/],
  [
    'win32',
    { status: 0xc0000005 },
    /it crashed, usually by an old Visual C\+\+ runtime \(0xC0000005\)\. Install/,
  ],
  [
    'win32',
    { code: 'UNKNOWN' },
    /a policy such as AppLocker, or a virus scanner, forbids it \(UNKNOWN\)\. Install Postgres with the installer of postgresql\.org\.$/,
  ],
  ['win32', { code: 'EPERM' }, /AppLocker/],
  [
    'darwin',
    { signal: 'SIGKILL' },
    /macOS refuses it, because it was downloaded or its signature is not valid\. Run: xattr -dr com\.apple\.quarantine '\/pg'\.$/,
  ],
  [
    'darwin',
    {
      signal: 'SIGABRT',
      stderr:
        "dyld[1]: Library not loaded: @loader_path/../lib/libicui18n.68.dylib\n  Reason: (code signature in <1> '/pg/lib/libicui18n.68.dylib' not valid for use in process: library load disallowed by system policy)",
    },
    /Run: xattr -dr com\.apple\.quarantine '\/pg'/,
  ],
  ['darwin', { code: 'ENOENT' }, /Install Postgres with brew install postgresql\.$/],
  ['linux', { signal: 'SIGKILL' }, /it was ended by SIGKILL/],
];

describe("a Postgres that can't run", () => {
  for (const [platform, error, message] of FAILURES)
    it(`says what to do on ${platform} after ${JSON.stringify(error).slice(0, 40)}`, () =>
      onPlatform(platform, () => assert.match(describeProgramFailure('/pg/bin/postgres', error), message)));

  it('says so, too, if a program fails that runs later', () => {
    assert.match(describeExit(0xc0000135, null), /^can't run: Windows lacks .* Install/);
    assert.equal(describeExit(1, null), 'ended with code 1');
    assert.equal(describeExit(null, 'SIGKILL'), 'was ended by SIGKILL');
  });
});

describe('a machine with Windows', () => {
  const folder = 'C:\\Users\\Jürgen\\data';
  const none = () => assert.fail('not needed');

  it('gives Postgres the short names of a folder that has other letters than ASCII', () =>
    onPlatform('win32', () => {
      assert.equal(asciiPath('C:\\Program Files', none), 'C:\\Program Files');
      const short = 'C:\\Users\\JRGEN~1\\data';
      assert.equal(
        asciiPath(folder, (long) => (long === folder ? `${short}\r\n` : '')),
        short,
      );
      // Without short names, the command repeats the long one, in another character set.
      for (const output of ['', 'C:\\Users\\J\u0081rgen\\data\r\n', 'error'])
        assert.equal(
          asciiPath(folder, () => output),
          folder,
        );
    }));

  it('without short names, says that Postgres needs another folder', async () => {
    const root = temporaryFolder();
    const bin = path.join(root, 'Jürgen', 'bin');
    mkdirSync(bin, { recursive: true });
    const initdb = path.join(bin, 'initdb');
    writeFileSync(initdb, '#!/bin/sh\necho "FATAL:  could not open file" >&2\nexit 1\n', { mode: 0o755 });
    const deps = {
      storage: { root, clusterTemplate: () => path.join(root, 'template') },
      binaries: { folder: bin, initdb, major: 18 },
      logins: { superuser: 'x', replicator: 'x' },
      shutdownSignal: new AbortController().signal,
    } as unknown as EngineDependencies;
    const message =
      /^Postgres on Windows can't use .*Jürgen.*, because of letters in its path \(.+\)\. Install Postgres in another folder and set hostedPostgres\.localService\.postgresPath/;
    await onPlatform('win32', () => assert.rejects(ensureClusterTemplate(deps), { message }));
  });

  it('is the only one with such a folder', () =>
    onPlatform('linux', () => assert.equal(asciiPath('/home/Jürgen', none), '/home/Jürgen')));

  it('gets a sentence about a path that is too long for Postgres', () =>
    onPlatform('win32', () =>
      assert.throws(() => createUsableFolder(`C:\\${'a'.repeat(138)}`), {
        message: /: Postgres on Windows needs a path of at most 140 characters\. Choose another folder\.$/,
      }),
    ));

  it('has its own kind of shared memory', () =>
    onPlatform('win32', () => {
      const kind = { shared_memory_type: 'windows', dynamic_shared_memory_type: 'windows' };
      assert.deepEqual(sharedMemorySettings(), kind);
    }));
});
