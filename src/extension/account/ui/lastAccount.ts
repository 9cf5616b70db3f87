/** Remembers the kind of account, so that activation needs no access to the secret store. */
import type { EventEmitter, Memento } from 'vscode';
import type { Disposable } from '../../../base/disposable.ts';
import type { Session } from '../session.ts';

/** The kind of the last account, shared by the windows of all machines. */
type LastAccount = 'none' | 'local' | 'remote';

const ENTRY = 'hostedPostgres.lastAccount';

export function lastAccount(memory: Pick<Memento, 'get'>): LastAccount {
  const stored = memory.get<unknown>(ENTRY);
  return stored === 'local' || stored === 'remote' ? stored : 'none';
}

export function rememberAccountKind(
  session: Session,
  memory: Pick<Memento, 'get' | 'update'>,
  changed: Pick<EventEmitter<void>, 'fire'>,
): Disposable {
  return session.onDidChange(({ kind, connection }) => {
    // In this case, the secret store is still being read or couldn't be read, so the kind isn't known.
    if (connection === undefined && kind !== 'signedOut') return;
    const account = connection?.account;
    const last: LastAccount = account === undefined ? 'none' : account.local === true ? 'local' : 'remote';
    if (last === lastAccount(memory)) return;
    void memory.update(ENTRY, last);
    changed.fire();
  });
}
