/** What `when` clauses can ask for. The only place that sets context keys. */
import { commands } from 'vscode';
import type { Disposable } from '../base/disposable.ts';
import type { Session } from '../model/session.ts';
import { explain } from './fault.ts';

/**
 * Keeps `hostedPostgres.state` at what the session is: `signedOut`, `loading`, `empty`, `ready` or `failed`, and
 * `hostedPostgres.help` at what helps when it failed.
 */
export function followSession(session: Session): Disposable {
  const told = new Map([['help', '']]);
  const set = (key: string, value: string) => {
    if (told.get(key) === value) return;
    told.set(key, value);
    void commands.executeCommand('setContext', `hostedPostgres.${key}`, value);
  };
  const tell = () => {
    const { current } = session;
    set('help', current.kind === 'failed' ? explain(current.error).help : '');
    set('state', current.kind);
  };
  tell();
  return session.onDidChange(tell);
}
