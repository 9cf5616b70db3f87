import { faultOf, isCertificateCode } from '../api/transport/errors.ts';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import type { Session } from './account/session.ts';
import type { BranchLists } from './inventory/branchLists.ts';
import type { Inventory } from './inventory/inventory.ts';
import { LocalServiceError } from '../localService/lease.ts';
import { explainError, isUnknownAddress } from './window/ui/errorMessage.ts';
import { setBranchesOffered, setStartOffered, setViewState } from './window/ui/contextKey.ts';
import type { ViewState } from './commandTable/when.ts';

/** Updates the context keys when the session or the inventory changes. */
export function updateContextKeys(
  session: Pick<Session, 'onDidChange'>,
  inventory: Pick<Inventory, 'state' | 'onDidChange'> & { readonly branches: Pick<BranchLists, 'isOffered'> },
): Disposable {
  const update = () => {
    const { state } = inventory;
    setViewState(state.kind === 'failed' ? failedState(state.error) : state.kind);
    setBranchesOffered(inventory.branches.isOffered);
  };
  update();
  const disposables = new DisposableStore();
  // The service of another account may offer it.
  disposables.add(session.onDidChange(() => setStartOffered(true)));
  disposables.add(session.onDidChange(update));
  disposables.add(inventory.onDidChange(update));
  return disposables;
}

export function failedState(error: unknown): ViewState {
  if (error instanceof LocalServiceError) {
    if (error.reason === 'otherKey') return 'failedLocalServiceKey';
    return error.reason === 'silent' ? 'failedLocalServiceSilent' : 'failedLocalServiceEnded';
  }
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
