/** A new branch has the passwords of its parent. With its own ones, who has one of them can't log in to the parent. */
import type { ResetPassword } from '../../api/client.ts';
import type { Branch, Role } from '../../api/records/records.ts';
import { isRejected } from '../../api/transport/errors.ts';
import type { BranchIds } from '../account/refs.ts';
import type { SendOptions, SendResult } from '../operations/changeSender.ts';
import type { OperationTracker } from '../operations/operationTracker.ts';
import { canLogIn } from './connectionDefaults.ts';

interface Dependencies {
  readonly branchActions: {
    resetPassword(ref: BranchIds, role: string, options: SendOptions): Promise<ResetPassword>;
  };
  readonly tracker: Pick<OperationTracker, 'follow'>;
}

interface RenewedBranch extends BranchIds {
  readonly record: Branch | undefined;
  readonly roles: readonly Role[];
}

/**
 * @param change waits until the operations of the change have ended: then the new password works
 * @throws {NotOfferedError} @returns the roles with new passwords: not those that only the service may change
 */
export async function renewPasswords(
  { branchActions, tracker }: Dependencies,
  { record, roles, ...ref }: RenewedBranch,
  change: (send: (options: SendOptions) => Promise<SendResult>) => Promise<SendResult>,
): Promise<string[]> {
  const renewed: string[] = [];
  for (const { name } of roles.filter(canLogIn)) {
    try {
      await change(async (options) => {
        const { operations } = await branchActions.resetPassword(ref, name, options);
        return {
          branch: record,
          isPending: tracker.follow('edit', { ...ref, name: record?.name }, operations),
        };
      });
      renewed.push(name);
    } catch (error) {
      if (!isRejected(error, 412, 422)) throw error;
    }
  }
  return renewed;
}
