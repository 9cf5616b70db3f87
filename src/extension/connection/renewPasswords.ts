/** Renews the passwords of a new branch in a window, which sends each new password as a change of the branch. */
import type { ResetPassword } from '../../api/client.ts';
import { renewPasswords } from '../../api/passwords.ts';
import type { Branch, Role } from '../../api/records/records.ts';
import { isRejected } from '../../api/transport/errors.ts';
import type { BranchIds } from '../account/refs.ts';
import type { SendOptions, SendResult } from '../operations/changeSender.ts';
import type { OperationTracker } from '../operations/operationTracker.ts';

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
 * Gives the roles of a new branch new passwords: see `api/passwords.ts`.
 * @param change waits until the operations of the change have ended: then the new password works
 * @throws {NotOfferedError}
 */
export const renewBranchPasswords = (
  { branchActions, tracker }: Dependencies,
  { record, roles, ...ref }: RenewedBranch,
  change: (send: (options: SendOptions) => Promise<SendResult>) => Promise<SendResult>,
): ReturnType<typeof renewPasswords> =>
  renewPasswords(roles, async (name) => {
    try {
      await change(async (options) => {
        const { operations } = await branchActions.resetPassword(ref, name, options);
        const target = { ...ref, name: record?.name };
        return { branch: record, pendingId: tracker.follow('edit', target, operations, options) };
      });
      return true;
    } catch (error) {
      if (!isRejected(error, 412, 422)) throw error;
      return false;
    }
  });
