import type { Disposable } from '../base/disposable.ts';
import type { Session } from '../model/session.ts';
import { tellHelp, tellObstacle, tellState } from './contextKeys.ts';
import { explain, obstacleOf } from './fault.ts';

/** Updates the context keys when the session changes. */
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
