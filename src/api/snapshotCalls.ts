/** The public service's calls for snapshots, which not every service offers. */
import { branchPath, snapshotPath, snapshotsPath } from './paths.ts';
import * as records from './records/records.ts';
import type { SnapshotCreation, SnapshotPatch, SnapshotRestoreBody } from './records/requests.ts';
import type { CallOptions, Http } from './transport/http.ts';
import {
  parseList,
  parseOperations,
  parseOptionalList,
  parseRecord,
  type ParsedList,
} from './transport/parseResponse.ts';

/** The calls for the snapshots of projects. */
export class SnapshotCalls {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Returns the project's snapshots; undefined if the service doesn't offer snapshots. */
  async list(projectId: string, options?: CallOptions): Promise<ParsedList<records.Snapshot> | undefined> {
    const reply = await this.#http.getIfOffered(snapshotsPath(projectId), {}, options);
    return reply && parseList(reply, 'snapshots', records.Snapshot);
  }

  async create(projectId: string, branchId: string, creation: SnapshotCreation, options?: CallOptions) {
    const path = `${branchPath(projectId, branchId)}/snapshot`;
    const reply = await this.#http.call('POST', path, { query: creation }, options);
    const snapshot = parseRecord(reply, 'snapshot', records.Snapshot);
    return { snapshot, operations: parseOperations(reply) };
  }

  async update(projectId: string, id: string, snapshot: SnapshotPatch, options?: CallOptions) {
    await this.#http.call('PATCH', snapshotPath(projectId, id), { body: { snapshot } }, options);
  }

  async delete(projectId: string, id: string, options?: CallOptions) {
    const reply = await this.#http.call('DELETE', snapshotPath(projectId, id), {}, options);
    return { operations: parseOperations(reply) };
  }

  /**
   * Creates a branch with the data of the snapshot. With `finalize_restore`, it gets the name and the computes of the target, which
   * stays under another name. So it has another id than the target, but the same connection strings.
   */
  async restore(projectId: string, id: string, body: SnapshotRestoreBody, options?: CallOptions) {
    const reply = await this.#http.call('POST', `${snapshotPath(projectId, id)}/restore`, { body }, options);
    return {
      branch: parseRecord(reply, 'branch', records.Branch),
      computes: parseOptionalList(reply, 'endpoints', records.Compute),
      operations: parseOperations(reply),
    };
  }
}
