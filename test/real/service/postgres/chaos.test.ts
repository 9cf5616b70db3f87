/**
 * What happens to machines, at random: the service is killed or frozen, another container starts one on the same data, the clock is
 * wrong for a moment, the disk is full. All that was confirmed is there afterwards, and only one service and one server write.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import {
  branchCalls,
  emptyAccount,
  storageOf,
  type Api,
  type Created,
} from '../../../helpers/branchCalls.ts';
import { roundsOf } from '../../../helpers/fullRun.ts';
import {
  DidNotStart,
  startLocalService,
  temporaryFolder,
  type LocalService,
} from '../../../helpers/localService.ts';
import { randomNumbers } from '../../../helpers/randomNumbers.ts';
import { RANDOM_SEED } from '../../../helpers/seed.ts';
import { projectRoot } from '../../../workbench/folders.ts';
import { answers, query } from './clients.ts';
import { canContain, inContainer } from './container.ts';

const STEPS = roundsOf(6, 60);
const HOUR = 3_600_000;
const CLOCK = pathToFileURL(path.join(projectRoot, 'test/helpers/setMachineClock.mjs')).href;
/** Megabytes. History is off, because it needs more. */
const DISK = 400;
/** Each takes 35 MB. */
const MAX_BRANCHES = 4;

(canContain() ? describe : describe.skip)(
  `${STEPS} mishaps of a machine, with the seed ${RANDOM_SEED}`,
  () => {
    const random = randomNumbers();
    const below = (limit: number) => Math.floor(random() * limit);
    const folder = temporaryFolder();
    const dataDir = path.join(folder, 'data');
    const offset = path.join(temporaryFolder(), 'offset');
    const options = { key: 'k', dataDir, args: emptyAccount() };
    /** Starts the service with a clock that `setClock` sets. */
    const start = () => {
      process.env['CLOCK_OFFSET_FILE'] = offset;
      process.env['NODE_OPTIONS'] = `--import ${CLOCK}`;
      try {
        return startLocalService(options);
      } finally {
        delete process.env['NODE_OPTIONS'];
      }
    };
    const setClock = (milliseconds: number) => writeFileSync(offset, String(milliseconds), { mode: 0o644 });
    let service: LocalService;
    let api: Api;
    let created: Created;
    let uri: string;
    /** Confirmed. */
    let rows = 0;
    const branches = new Set<string>();
    const done: string[] = [];

    const use = (started: LocalService) => {
      service = started;
      api = branchCalls(service);
    };
    const change = async () => {
      await answers(uri);
      await query(uri, `insert into kept values (${rows})`);
      rows += 1;
      const expires_at = new Date(Date.now() + HOUR).toISOString();
      const { branch } = await api.change('POST', `/${created.project.id}/branches`, {
        branch: { expires_at },
      });
      branches.add(branch.id);
      const [oldest = ''] = branches;
      if (branches.size <= MAX_BRANCHES) return;
      await api.change('DELETE', `/${created.project.id}/branches/${oldest}`);
      branches.delete(oldest);
    };
    const requireAll = async () => {
      await answers(uri);
      assert.deepEqual(await query(uri, 'select count(*)::int from kept'), [rows], done.join(', '));
      const ids = new Set((await api.branches(created.project.id)).map(({ id }) => id));
      assert.deepEqual(
        [...branches].filter((id) => !ids.has(id)),
        [],
        done.join(', '),
      );
    };
    /** Another container tries while this service lives. */
    const requireAlone = async () => {
      const second = startLocalService({ ...options, under: inContainer(`other${below(100)}`) });
      await assert.rejects(second, (error) => error instanceof DidNotStart && error.exitCode === 3);
    };

    const mishaps: Readonly<Record<string, () => Promise<void>>> = {
      async 'the service is killed'() {
        await service.kill();
        use(await start());
      },
      async 'the service and its servers are killed'() {
        const file = path.join(storageOf({ dataDir }), 'branches', created.branch.id, 'data/postmaster.pid');
        const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined;
        await service.kill();
        if (pid !== undefined) spawnSync('kill', ['-9', String(pid)]);
        use(await start());
      },
      async 'the service is frozen while another container starts one'() {
        process.kill(service.pid, 'SIGSTOP');
        await requireAlone();
        process.kill(service.pid, 'SIGCONT');
      },
      async 'another container starts one'() {
        await requireAlone();
      },
      async 'the clock is wrong for a moment'() {
        setClock((done.length % 2 === 0 ? -1 : 1) * (2 + below(22)) * HOUR);
        // Longer than the interval in which expired branches are looked for.
        await delay(6_000);
        setClock(0);
      },
      async 'the disk is full'() {
        const filler = path.join(folder, 'filler');
        spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4096']);
        await api.branches(created.project.id).catch(() => undefined);
        rmSync(filler);
      },
    };

    before(async function () {
      const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}m,mode=755`, 'tmpfs', folder]);
      if (mounted.status !== 0) return this.skip(); // Only root may mount.
      setClock(0);
      use(await start());
      created = await api.change('POST', '', { project: { history_retention_seconds: 0 } });
      uri = api.uri(created);
      await query(uri, 'create table kept (id int)');
    });
    after(async () => {
      await service?.stop();
      spawnSync('umount', [folder]);
    });

    it('lose nothing that was confirmed', async () => {
      for (let step = 0; step < STEPS; step += 1) {
        const names = Object.keys(mishaps);
        // Each once, then at random.
        const name = names[step < names.length ? step : below(names.length)] ?? '';
        done.push(name);
        await change();
        await mishaps[name]?.();
        await requireAll();
      }
    });
  },
);
