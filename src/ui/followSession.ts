import type { Disposable } from '../base/disposable.ts';
import type { Session } from '../model/session.ts';
import { tellHelp, tellState } from './contextKeys.ts';
import { explain } from './fault.ts';

/** Keeps the context keys at what the session is. */
export function followSession(session: Session): Disposable {
  const tell = () => {
    const { current } = session;
    tellHelp(current.kind === 'failed' ? explain(current.error).help : '');
    tellState(current.kind);
  };
  tell();
  return session.onDidChange(tell);
}
