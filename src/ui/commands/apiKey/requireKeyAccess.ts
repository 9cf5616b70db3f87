import { l10n } from 'vscode';
import { isRefused } from '../../../api/errors.ts';

/** Runs a call of an account's route, which refuses an organization's key with 403. @throws {Error} in words, then */
export async function withKeyRights<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isRefused(error, 403)) throw error;
    throw new Error(
      l10n.t('The key belongs to an organization, and such a key may not create or revoke keys.'),
    );
  }
}
