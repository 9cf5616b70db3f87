/**
 * Kills the service at random moments under load. Every change of a compute or key that it confirmed must exist after the
 * restart. Those of branches and projects are in `postgres/branchKills.test.ts`.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { faultOf, isRejected } from '../../../src/api/transport/errors.ts';
import { call } from '../../helpers/call.ts';
import { roundsOf } from '../../helpers/fullRun.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { until } from '../../workbench/until.ts';
import { FREE, PROJECT } from './controlPlane/sampleProject.ts';

const KILLS = roundsOf(5);
const WRITERS = 4;

/** What a writer knows about a name. A value that was sent but not confirmed may be stored or not. */
interface Known {
  readonly confirmed: string | undefined;
  readonly sent: string | undefined;
}

/** Writes one change after another until the service is gone, and records the confirmed ones. */
class Writer {
  readonly computes = new Map<string, Known>();
  readonly keys = new Map<number, string>();
  readonly deleted = new Set<string>();
  replies = 0;
  #count = 0;
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  async write(service: LocalService): Promise<void> {
    for (;;) {
      try {
        await this.#writeOne(service);
        this.replies += 1;
      } catch (error) {
        if (isRejected(error, 423)) continue;
        assert(isGone(error), String(error));
        return;
      }
    }
  }

  async #writeOne(service: LocalService): Promise<void> {
    const { client } = service;
    this.#count += 1;
    const name = `${this.#name}-${this.#count}`;
    const [id] = [...this.computes.keys()].slice(-1);
    if (this.#count % 7 === 0) {
      const { id: keyId, key } = await client.createApiKey(name);
      this.keys.set(keyId, key);
    } else if (id === undefined || this.#count % 9 === 0) {
      const { compute } = await client.createCompute(PROJECT, { branch_id: FREE, type: 'read_only', name });
      if (compute !== undefined) this.computes.set(compute.id, { confirmed: name, sent: undefined });
    } else if (this.#count % 10 === 0) {
      this.computes.set(id, { confirmed: undefined, sent: undefined });
      await client.deleteCompute(PROJECT, id);
      this.computes.delete(id);
      this.deleted.add(id);
    } else {
      this.computes.set(id, { confirmed: this.computes.get(id)?.confirmed, sent: name });
      const more = this.#count % 4 === 0 ? { autoscaling_limit_max_cu: 1 + (this.#count % 8) } : {};
      await client.updateCompute(PROJECT, id, { name, ...more });
      this.computes.set(id, { confirmed: name, sent: undefined });
    }
  }

  mayHaveDeleted = (id: string): boolean =>
    this.deleted.has(id) || (this.computes.has(id) && this.computes.get(id)?.confirmed === undefined);

  async check(service: LocalService, names: ReadonlyMap<string, unknown>): Promise<void> {
    for (const [id, { confirmed, sent }] of this.computes) {
      if (confirmed === undefined) {
        // Its deletion was not confirmed.
        if (!names.has(id)) this.computes.delete(id);
        continue;
      }
      assert(names.has(id), `${id} was confirmed and is missing`);
      const name = names.get(id);
      assert(
        name === confirmed || (sent !== undefined && name === sent),
        `${id}: ${String(name)}, not ${confirmed} or ${sent}`,
      );
      this.computes.set(id, { confirmed: name, sent: undefined });
    }
    for (const id of this.deleted) assert(!names.has(id), `${id} was deleted and exists again`);
    const [newest] = [...this.keys.values()].slice(-1);
    if (newest !== undefined) {
      assert.equal((await call(service.baseUrl, { path: '/projects', key: newest })).status, 200);
    }
  }
}

/** Reads repeatedly. What it has seen must also exist later. */
class Reader {
  readonly #seen = new Map<string, number>();
  reads = 0;

  async read(service: LocalService): Promise<void> {
    for (;;) {
      try {
        const { items } = await service.client.listComputes(PROJECT);
        this.reads += 1;
        for (const { id, name, branch_id } of items) if (branch_id === FREE) this.#seen.set(id, ageOf(name));
      } catch (error) {
        assert(isGone(error), String(error));
        return;
      }
    }
  }

  /** Names must never get older, and computes disappear only by a deletion. */
  check(names: ReadonlyMap<string, unknown>, isDeleted: (id: string) => boolean): void {
    for (const [id, age] of this.#seen) {
      if (names.has(id)) assert(ageOf(names.get(id)) >= age, `${id} was seen with a newer name`);
      else assert(isDeleted(id), `${id} was seen and is missing`);
    }
    this.#seen.clear();
  }
}

const ageOf = (name: unknown): number => Number(String(name).split('-')[1] ?? 0);

const isGone = (error: unknown): boolean => faultOf(error)?.kind === 'network';

describe(`The service killed ${KILLS} times under load`, () => {
  const folder = temporaryFolder();

  it('has every confirmed change after the restart', async () => {
    const options = { postgres: false, key: 'k', dataDir: path.join(folder, 'data') };
    const writers = Array.from({ length: WRITERS }, (_, index) => new Writer(`writer${index}`));
    const reader = new Reader();
    const replies = () => writers.reduce((sum, writer) => sum + writer.replies, 0);
    for (let kill = 0; kill < KILLS; kill += 1) {
      const service = await startLocalService(options);
      await check(service, writers, reader);
      const writing = Promise.all([...writers.map((writer) => writer.write(service)), reader.read(service)]);
      const [replied, read] = [replies(), reader.reads];
      await until('some replies', async () => replies() > replied + WRITERS && reader.reads > read);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 100));
      await service.kill();
      await writing;
    }
    const last = await startLocalService(options);
    await check(last, writers, reader);
  });
});

async function check(service: LocalService, writers: readonly Writer[], reader: Reader): Promise<void> {
  const computes = (await service.client.listComputes(PROJECT)).items;
  const names = new Map(computes.map(({ id, name }) => [id, name]));
  const keys = new Set((await service.client.listApiKeys()).items.map(({ id }) => id));
  reader.check(names, (id) => writers.some((writer) => writer.mayHaveDeleted(id)));
  for (const writer of writers) {
    await writer.check(service, names);
    for (const id of writer.keys.keys()) assert(keys.has(id), `key ${id} was confirmed and is missing`);
  }
}
