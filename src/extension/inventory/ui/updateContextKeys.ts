import { faultOf, isCertificateCode } from '../../../api/transport/errors.ts';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import type { Account } from '../../account/accounts.ts';
import { isPublicService } from '../../account/publicService.ts';
import type { Session } from '../../account/session.ts';
import type { BranchLists } from '../branchLists.ts';
import type { Inventory } from '../inventory.ts';
import type { SnapshotLists } from '../snapshotLists.ts';
import { LocalServiceError, type LocalServiceFailure } from '../../../localService/lease.ts';
import { explainError, isUnknownAddress } from '../../window/ui/errorMessage.ts';
import {
  hideNotOffered,
  setBranchesOffered,
  setHasConsole,
  setViewState,
  showFeatures,
} from '../../window/ui/contextKey.ts';
import type { ViewState } from '../../commandTable/when.ts';

/** Updates the context keys when the session or the inventory changes. */
export function updateContextKeys(
  session: Pick<Session, 'onDidChange' | 'connection'>,
  inventory: Pick<Inventory, 'state' | 'onDidChange'> & {
    readonly branches: Pick<BranchLists, 'isOffered'>;
    readonly snapshots: Pick<SnapshotLists, 'isOffered'>;
  },
): Disposable {
  const update = () => {
    const { state } = inventory;
    const account = session.connection?.account;
    if (state.kind === 'failed') setViewState(viewStateOfFailure(state.error, account));
    else if (state.kind === 'empty' && account?.organizationId !== undefined)
      setViewState('emptyOrganization');
    else setViewState(state.kind);
    setHasConsole(account !== undefined && isPublicService(account.baseUrl));
    setBranchesOffered(inventory.branches.isOffered);
    if (!inventory.snapshots.isOffered) hideNotOffered('snapshots');
  };
  update();
  const disposables = new DisposableStore();
  disposables.add(session.onDidChange(showFeatures));
  disposables.add(session.onDidChange(update));
  disposables.add(inventory.onDidChange(update));
  return disposables;
}

const LOCAL_SERVICE_STATES: Readonly<Record<LocalServiceFailure, ViewState>> = {
  otherKey: 'failedLocalServiceKey',
  revokedKey: 'failedLocalServiceRevoked',
  silent: 'failedLocalServiceSilent',
  ended: 'failedLocalServiceEnded',
  noPostgres: 'failedLocalServiceEnded',
};

export function viewStateOfFailure(error: unknown, account?: Account): ViewState {
  if (error instanceof LocalServiceError) return LOCAL_SERVICE_STATES[error.reason];
  const { action } = explainError(error);
  if (action === 'newKey' && account?.local === true) return 'failedLocalServiceRevoked';
  if (action === 'newKey' && account !== undefined && isPublicService(account.baseUrl))
    return 'failedPublicKey';
  if (action === 'newKey') return 'failedKey';
  if (action === 'organization') return 'failedOrganization';
  const fault = faultOf(error);
  if (fault?.kind === 'timeout') return 'failedUnreachable';
  if (fault?.kind === 'unexpectedReply' && fault.reason === 'html') return 'failedWebPage';
  if (fault?.kind !== 'network') return 'failed';
  if (isUnknownAddress(fault.code)) return 'failedAddress';
  return isCertificateCode(fault.code) ? 'failedCertificate' : 'failedUnreachable';
}
