/** What is known of the account before anybody asks the secret store. */
import type { Memento } from 'vscode';
import type { Disposable } from '../base/disposable.ts';
import type { Session } from '../model/session.ts';

/** What the last session of this machine was connected to. */
export type LastAccount = 'none' | 'local' | 'elsewhere';

const ENTRY = 'hostedPostgres.lastAccount';

export function lastAccount(memory: Pick<Memento, 'get'>): LastAccount {
  const kept = memory.get<unknown>(ENTRY);
  return kept === 'local' || kept === 'elsewhere' ? kept : 'none';
}

export function rememberAccount(session: Session, memory: Pick<Memento, 'get' | 'update'>): Disposable {
  return session.onDidChange(({ kind, connection }) => {
    // Not known yet, or the secret store failed.
    if (connection === undefined && kind !== 'signedOut') return;
    const account = connection?.account;
    const now: LastAccount = account === undefined ? 'none' : account.local === true ? 'local' : 'elsewhere';
    if (now !== lastAccount(memory)) void memory.update(ENTRY, now);
  });
}
