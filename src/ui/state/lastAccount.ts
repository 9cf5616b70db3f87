/** Remembers the kind of account, so that activation needs no access to the secret store. */
import type { Memento } from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import type { Session } from '../../model/account/session.ts';

/** What the last session was connected to, in a window of any machine. */
export type LastAccount = 'none' | 'local' | 'remote';

const ENTRY = 'hostedPostgres.lastAccount';

export function lastAccount(memory: Pick<Memento, 'get'>): LastAccount {
  const kept = memory.get<unknown>(ENTRY);
  return kept === 'local' || kept === 'remote' ? kept : 'none';
}

export function rememberAccount(session: Session, memory: Pick<Memento, 'get' | 'update'>): Disposable {
  return session.onDidChange(({ kind, connection }) => {
    // Still reading the secret store, or reading it failed.
    if (connection === undefined && kind !== 'signedOut') return;
    const account = connection?.account;
    const now: LastAccount = account === undefined ? 'none' : account.local === true ? 'local' : 'remote';
    if (now !== lastAccount(memory)) void memory.update(ENTRY, now);
  });
}
