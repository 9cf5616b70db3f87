import type { Disposable } from '../base/disposable.ts';
import type { Session } from '../model/session.ts';
import { tellHelp, tellObstacle, tellState } from './contextKeys.ts';
import { explain, obstacleOf } from './fault.ts';

/** Keeps the context keys at what the session is. */
export function followSession(session: Session): Disposable {
  const tell = () => {
    const { current } = session;
    const error = current.kind === 'failed' ? current.error : undefined;
    tellHelp(error === undefined ? '' : explain(error).help);
    tellObstacle(obstacleOf(error));
    tellState(current.kind);
  };
  tell();
  return session.onDidChange(tell);
}
