/**
 * Kills the service at random moments while databases and roles are created, changed and deleted. After each restart,
 * every change has happened completely or not at all, and confirmed ones have happened.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { storageOf } from '../../../../helpers/branchCalls.ts';
import { roundsOf } from '../../../../helpers/fullRun.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../../../helpers/localService.ts';
import { answers, eventually, query } from '../clients.ts';
import { killPostmasters } from '../leftBehind.ts';
import { branchApi, type BranchApi, type Reply } from './branchApi.ts';

const KILLS = roundsOf(5);
const WRITERS = 3;
/** A kill follows after a random number of replies below this, and then a random time. Milliseconds. */
const MOST_REPLIES = 3;
const LONGEST_DELAY = 100;

/** What a writer knows of its databases or roles. */
class Names {
  readonly confirmed = new Set<string>();
  /** The names before and after a call whose reply is missing. */
  pending: { readonly before: readonly string[]; readonly after: readonly string[] } | undefined;

  get newest(): string | undefined {
    return [...this.confirmed].at(-1);
  }

  /** Calls `change`, which replaces the names `before` by `after`. */
  async change(
    before: readonly string[],
    after: readonly string[],
    change: () => Promise<Reply>,
  ): Promise<void> {
    this.pending = { before, after };
    for (const name of before) this.confirmed.delete(name);
    const { status, text } = await change();
    assert([200, 201, 423].includes(status), text);
    for (const name of status === 423 ? before : after) this.confirmed.add(name);
    this.pending = undefined;
  }

  /** @param actual the writer's names after a restart */
  check(actual: readonly string[]): void {
    const { before, after } = this.pending ?? { before: [], after: [] };
    const found = actual.filter((name) => !this.confirmed.has(name)).toSorted();
    assert.equal(found.length + this.confirmed.size, actual.length, 'every confirmed name exists');
    const isOldOrNew = [before, after].some((names) => String(names.toSorted()) === String(found));
    assert(isOldOrNew, `${String(found)}, neither ${String(before)} nor ${String(after)}`);
    for (const name of found) this.confirmed.add(name);
    this.pending = undefined;
  }
}

class Writer {
  readonly databases = new Names();
  readonly roles = new Names();
  replies = 0;
  readonly #prefix: string;
  readonly #api: BranchApi;
  #count = 0;

  constructor(prefix: string, api: BranchApi) {
    this.#prefix = prefix;
    this.#api = api;
  }

  /** Makes one change after another until the service is gone. */
  async write(): Promise<void> {
    for (;;) {
      this.#count += 1;
      try {
        await (this.#count % 2 === 0 ? this.#writeDatabase() : this.#writeRole());
        this.replies += 1;
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        return;
      }
    }
  }

  async #writeDatabase(): Promise<void> {
    const { databases } = this;
    const name = `${this.#prefix} "db" ${this.#count}`;
    const { newest } = databases;
    const kind = newest === undefined ? 0 : this.#count % 3;
    if (newest === undefined || kind === 0)
      await databases.change([], [name], async () => this.#api.createDatabase(name));
    else if (kind === 1) {
      const change = async () =>
        this.#api.patch(`/databases/${encodeURIComponent(newest)}`, { database: { name } });
      await databases.change([newest], [name], change);
    } else
      await databases.change([newest], [], async () =>
        this.#api.remove(`/databases/${encodeURIComponent(newest)}`),
      );
  }

  async #writeRole(): Promise<void> {
    const { roles } = this;
    const name = `${this.#prefix} "role" ${this.#count}`;
    const { newest } = roles;
    const kind = newest === undefined ? 0 : this.#count % 3;
    if (newest === undefined || kind === 0)
      await roles.change([], [name], async () => this.#api.createRole(name));
    else if (kind === 1) {
      const reset = async () => this.#api.post(`/roles/${encodeURIComponent(newest)}/reset_password`);
      await roles.change([newest], [newest], reset);
    } else
      await roles.change([newest], [], async () => this.#api.remove(`/roles/${encodeURIComponent(newest)}`));
  }

  async check(databases: readonly string[], roles: readonly string[]): Promise<void> {
    const withPrefix = (names: readonly string[]) => names.filter((name) => name.startsWith(this.#prefix));
    this.databases.check(withPrefix(databases));
    this.roles.check(withPrefix(roles));
    // A password is known even if its change was not confirmed.
    for (const name of this.roles.confirmed) {
      const { status, text } = await this.#api.get(`/roles/${encodeURIComponent(name)}/reveal_password`);
      assert.equal(status, 200, text);
    }
  }
}

describe(`databases and roles of a service that is killed ${KILLS} times`, () => {
  const folder = temporaryFolder();

  it('are in the old state or the new one after each restart', async () => {
    const options = { key: 'k', dataDir: path.join(folder, 'data') };
    let service: LocalService;
    const api = branchApi(() => service);
    const writers = Array.from({ length: WRITERS }, (_, index) => new Writer(`writer${index}`, api));
    const replies = () => writers.reduce((sum, writer) => sum + writer.replies, 0);
    let uri: string | undefined;
    const check = async () => {
      // A private server recovers the data. Then the compute serves all other calls.
      const databases = await api.names('databases');
      await answers((uri ??= await api.uri()));
      const roles = await api.names('roles');
      for (const writer of writers) await writer.check(databases, roles);
    };
    for (let kill = 0; kill < KILLS; kill += 1) {
      service = await startLocalService(options);
      await check();
      // Every second run changes the data while the compute is active, and the others without it.
      if (kill % 2 === 1) await api.suspend();
      const writing = Promise.all(writers.map(async (writer) => writer.write()));
      const enough = replies() + 1 + Math.floor(Math.random() * MOST_REPLIES);
      await eventually(() => replies() >= enough);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_DELAY));
      // Alone, or with Postgres, which then has to recover.
      await service.kill();
      if (kill % 4 >= 2) killPostmasters(storageOf(service));
      await writing;
    }
    service = await startLocalService(options);
    await check();
    for (const role of writers.flatMap(({ roles }) => [...roles.confirmed]))
      assert.deepEqual(await query(await api.uri(role), 'select current_user::text'), [role]);
    for (const database of writers.flatMap(({ databases }) => [...databases.confirmed]))
      await query(await api.uri('app_owner', database), 'select 1');
    await service.stop();
    assert(replies() > KILLS, `only ${replies()} replies`);
  });
});
