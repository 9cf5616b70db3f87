/** Linux machines that lack something, made in mount namespaces: each start ends with a sentence that says what to do, or works. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { call } from '../../../helpers/call.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';
import { didNotStart } from '../didNotStart.ts';
import { query } from './clients.ts';
import { usualPostgres } from './usualPostgres.ts';

/** Returns the address of a compute of the sample account. */
async function appUri(service: LocalService): Promise<string> {
  const path = '/projects/shiny-wind-028834/connection_uri?role_name=app_owner&database_name=app';
  const { status, json } = await call(service.baseUrl, { path, key: service.key });
  assert.equal(status, 200, `${JSON.stringify(json)}\n${service.stderr()}`);
  return (json as { uri: string }).uri;
}

/** A command that changes what is mounted, with the folder as `$0`, and then runs another command as given. */
const inNamespace = (mounts: string, folder: string): string[] => [
  'unshare',
  '--mount',
  'sh',
  '-ec',
  `${mounts}; exec "$@"`,
  folder,
];

const canMount =
  process.platform === 'linux' &&
  spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

describe(`a Linux machine${canMount ? '' : ' (skipped: needs mount namespaces)'}`, () => {
  let folder: string;
  before(function () {
    if (!canMount) this.skip();
  });
  beforeEach(() => {
    folder = temporaryFolder();
    chmodSync(folder, 0o755);
  });

  /** Starts the service, waits for what it logs, and ends it. */
  const logs = async (under: readonly string[], message: RegExp, args: readonly string[] = []) => {
    const service = await startLocalService({ under, args, createsTemplate: true });
    try {
      await until('the reason in the log', async () => message.test(service.stderr()));
    } finally {
      await service.stop();
    }
  };

  it('with musl instead of glibc says how to install a Postgres for it', async function () {
    if (process.arch !== 'x64') return this.skip();
    // As on Alpine: the loader of musl is there, and that of glibc, with which Node is run here, is not.
    const alpine = [
      'cp -L /lib64/ld-linux-x86-64.so.2 "$0/loader"',
      'mkdir "$0/lib"',
      ': > "$0/lib/ld-musl-x86_64.so.1"',
      'mount -t overlay overlay -o lowerdir="$0:/usr" /usr',
      'mount -t tmpfs none /lib64',
    ].join('; ');
    const [unshare = '', ...args] = inNamespace(`${alpine}; set -- "$0/loader" "$@"`, folder);
    const node = spawnSync(unshare, [...args, process.execPath, '--version'], { encoding: 'utf8' });
    if (node.stdout.trim() !== process.version) return this.skip(); // It has no overlays, or another layout.
    execFileSync('rm', ['-r', path.join(folder, 'lib'), path.join(folder, 'loader')]);
    await logs(
      [unshare, ...args],
      /^No compute can start\. .*postgres can't run: it needs glibc, and this system has musl\. Install Postgres with apk add postgresql\.$/m,
    );
  });

  it('that runs no programs of the folder says so', async () => {
    const found = usualPostgres();
    const programs = path.join(folder, 'pg', 'bin');
    mkdirSync(programs, { recursive: true });
    for (const name of ['postgres', 'initdb'])
      cpSync(path.join(found.folder, name), path.join(programs, name));
    symlinkSync(path.join(found.folder, '..', 'lib'), path.join(folder, 'pg', 'lib'));
    await logs(
      inNamespace('mount --bind "$0" "$0"; mount -o remount,bind,noexec "$0"', folder),
      /postgres can't run: its file system \(noexec\) or its rights forbid it\. Install Postgres with/,
      ['--postgres-path', programs],
    );
  });

  const readOnly = 'mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"';

  it('with a read-only folder for the data asks for another', async () => {
    const dataDir = path.join(folder, 'new', 'data');
    await assert.rejects(
      startLocalService({ under: inNamespace(readOnly, folder), dataDir, createsTemplate: true }),
      didNotStart(
        5,
        /Cannot use the data directory .*: the file system is read-only \(EROFS\)\. Choose another folder\./,
      ),
    );
  });

  it('with a read-only home runs', async () => {
    const service = await startLocalService({
      under: [...inNamespace(readOnly, folder), 'env', `HOME=${folder}`],
    });
    try {
      assert.deepEqual(await query(await appUri(service), 'select 1'), [1]);
    } finally {
      await service.stop();
    }
  });

  // The temporary folder, which may be in it, stays writable, or is found at another path.
  const SHARED_MEMORY = {
    'a read-only': 'mount --bind "$0" "$0"; mount -o remount,bind,ro /dev/shm',
    'a small': `mount --bind "$0" /mnt; mount -t tmpfs -o size=64k tmpfs /dev/shm; mkdir -p "$0"
      mount --bind /mnt "$0"`,
    no: `mount --bind "$0" /mnt; mount -t tmpfs tmpfs /media
      for name in null zero full random urandom tty; do
        : > /media/$name; mount --bind /dev/$name /media/$name
      done
      ln -s /proc/self/fd /media/fd; mount --move /media /dev
      for each; do
        case $each in *"$0"/*) each="\${each%%"$0"*}/mnt\${each#*"$0"}";; esac
        set -- "$@" "$each"; shift
      done
      export TMPDIR=/mnt RECORDED_EXCHANGES="/mnt\${RECORDED_EXCHANGES#"$0"}"`,
  };
  for (const [what, mounts] of Object.entries(SHARED_MEMORY))
    it(`with ${what} /dev/shm runs, with another kind of shared memory`, async () => {
      // A prepared template is a link to a path that may not be there.
      const under = inNamespace(mounts, os.tmpdir());
      const service = await startLocalService({ under, createsTemplate: true });
      try {
        const asked = query(await appUri(service), 'show dynamic_shared_memory_type');
        assert.deepEqual(await asked, ['sysv']);
      } finally {
        await service.stop();
      }
    });

  it('without a free shared memory segment says what to do', async () => {
    const script = 'echo 0 > /proc/sys/kernel/shmmni; exec "$@"';
    const service = await startLocalService({ under: ['unshare', '--ipc', 'sh', '-ec', script, 'sh'] });
    try {
      await assert.rejects(
        query(await appUri(service), 'select 1'),
        /no shared memory segment left .* Suspend computes or stop other Postgres servers, or raise shmmni/,
      );
    } finally {
      await service.stop();
    }
  });
});
