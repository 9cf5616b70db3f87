/** What `when` clauses can ask for. The only place that sets context keys. */
import { commands } from 'vscode';
import type { Disposable } from '../base/disposable.ts';
import type { Session } from '../model/session.ts';

/** Keeps `hostedPostgres.state` at what the session is: `signedOut`, `loading`, `empty`, `ready` or `failed`. */
export function followSession(session: Session): Disposable {
  const tell = () => void commands.executeCommand('setContext', 'hostedPostgres.state', session.current.kind);
  tell();
  return session.onDidChange(tell);
}
