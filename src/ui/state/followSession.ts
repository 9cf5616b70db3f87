import { faultOf, isCertificateCode } from '../../api/errors.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Session } from '../../model/account/session.ts';
import { isLocalServiceError } from '../localService/localServiceError.ts';
import { explainError, isUnknownAddress } from '../text/errorMessage.ts';
import { setViewState, type ViewState } from './contextKey.ts';

/** Updates the context key when the session changes. */
export function followSession(session: Session): Disposable {
  const update = () => {
    const { current } = session;
    setViewState(current.kind === 'failed' ? failedState(current.error) : current.kind);
  };
  update();
  return session.onDidChange(update);
}

export function failedState(error: unknown): ViewState {
  if (isLocalServiceError(error))
    return error.reason === 'silent' ? 'failedLocalServiceSilent' : 'failedLocalServiceEnded';
  const { action } = explainError(error);
  if (action === 'newKey') return 'failedKey';
  if (action === 'organization') return 'failedOrganization';
  const fault = faultOf(error);
  if (fault?.kind === 'timeout') return 'failedUnreachable';
  if (fault?.kind === 'unexpectedReply' && fault.reason === 'html') return 'failedWebPage';
  if (fault?.kind !== 'network') return 'failed';
  if (isUnknownAddress(fault.code)) return 'failedAddress';
  return isCertificateCode(fault.code) ? 'failedCertificate' : 'failedUnreachable';
}
