import type { Disposable } from '../../base/disposable.ts';
import type { Session } from '../../model/session.ts';
import { setHelp, setObstacle, setState } from './contextKeys.ts';
import { explainError, obstacleOf } from '../text/errorMessage.ts';

/** Updates the context keys when the session changes. */
export function followSession(session: Session): Disposable {
  const update = () => {
    const { current } = session;
    const error = current.kind === 'failed' ? current.error : undefined;
    setHelp(error === undefined ? '' : explainError(error).action);
    setObstacle(obstacleOf(error));
    setState(current.kind);
  };
  update();
  return session.onDidChange(update);
}
