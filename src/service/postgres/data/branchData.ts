/** The data of branches: one directory each, made when it is first needed, used by one server at a time. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { limitTo } from '../../../base/limit.ts';
import { EngineError, type BranchLogin } from '../../core/computeEngine.ts';
import { makePrivateFolder } from './privateFiles.ts';
import { branchLogin } from './logins.ts';
import type { Postmaster } from '../process/postmaster.ts';
import { makeFromTemplate, type TemplateOptions } from './template.ts';

export interface ServerTools extends TemplateOptions {
  readonly branches: BranchData;
}

export class BranchData {
  readonly #options: TemplateOptions;
  readonly #turns = new Map<string, <T>(work: () => Promise<T>) => Promise<T>>();
  readonly #servers = new Map<string, Postmaster>();
  /** One template is made at a time; the branches that follow find it there. */
  readonly #making = limitTo(1);

  constructor(options: TemplateOptions) {
    this.#options = options;
  }

  /**
   * Runs `work` while nothing else starts, stops or copies this branch's data. Never call it from within: a turn
   * inside a turn of the same branch would wait for itself.
   */
  async inTurn<T>(branchId: string, work: () => Promise<T>): Promise<T> {
    const turn = this.#turns.get(branchId) ?? limitTo(1);
    this.#turns.set(branchId, turn);
    return turn(work);
  }

  /** The primary's server on this branch's data. What it says holds for as long as the turn it is asked in. */
  server(branchId: string): Postmaster | undefined {
    return this.#servers.get(branchId);
  }

  /** Notes the server that was started on this branch's data, in the turn that started it. */
  serve(branchId: string, server: Postmaster): void {
    this.#servers.set(branchId, server);
    void server.ended.then(() => {
      if (this.#servers.get(branchId) === server) this.#servers.delete(branchId);
    });
  }

  folder(branchId: string): string {
    return path.join(this.#options.storage.branch(branchId), 'data');
  }

  /** The branch's data directory, made when missing. Call it in turn. @throws {EngineError} */
  async ensure(branchId: string): Promise<string> {
    const dataDir = this.folder(branchId);
    if (!existsSync(dataDir)) {
      const login = this.login(branchId);
      await this.#making(() => makeFromTemplate(this.#options, dataDir, login.password));
    }
    this.#checkVersion(branchId, dataDir);
    return dataDir;
  }

  /** The branch's own login, made at the first call. */
  login(branchId: string): BranchLogin {
    const folder = this.#options.storage.branch(branchId);
    makePrivateFolder(folder);
    return branchLogin(folder);
  }

  #checkVersion(branchId: string, dataDir: string): void {
    const { major } = this.#options.binaries;
    const version = Number(readFileSync(path.join(dataDir, 'PG_VERSION'), 'utf8'));
    if (version === major) return;
    throw new EngineError(
      `Branch ${branchId} holds data of Postgres ${version}, but the Postgres found is ${major}: ` +
        `name the folder of a Postgres ${version}, or use another data directory`,
    );
  }
}
