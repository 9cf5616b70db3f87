import type { Event } from '../../../base/event.ts';
import type { BranchRef } from '../../account/refs.ts';
import type { Session } from '../../account/session.ts';
import type { BranchNode } from '../nodes.ts';
import { nodeId, type TreeNode } from './treeNodes.ts';

/** The branches to which the env files of this window point. */
export interface EnvTargets {
  readonly states: readonly { readonly current: BranchRef | undefined }[];
  readonly onDidChange: Event<void>;
}

/** The branches of the connected account that env files of this window point to. */
export class BranchesInUse {
  readonly #session: Session;
  readonly #targets: EnvTargets;

  constructor(session: Session, targets: EnvTargets) {
    this.#session = session;
    this.#targets = targets;
  }

  has(node: TreeNode): boolean {
    return node.kind === 'branch' && this.#nodes.has(nodeId(node));
  }

  /** Fires with the branches that have come into use, and those that are no longer in use. */
  readonly onDidChange: Event<readonly BranchNode[]> = (listener) => {
    let before = this.#nodes;
    return this.#targets.onDidChange(() => {
      const now = this.#nodes;
      const all = new Map([...before, ...now]);
      const changed = [...all].filter(([id]) => before.has(id) !== now.has(id)).map(([, node]) => node);
      before = now;
      if (changed.length > 0) listener(changed);
    });
  };

  get #nodes(): ReadonlyMap<string, BranchNode> {
    const account = this.#session.connection?.accountId;
    const targets = this.#targets.states.flatMap(({ current }) => current ?? []);
    return new Map(
      targets
        .filter((target) => target.account === account)
        .map(({ projectId, branchId }): [string, BranchNode] => {
          const node: BranchNode = { kind: 'branch', projectId, branchId };
          return [nodeId(node), node];
        }),
    );
  }
}
