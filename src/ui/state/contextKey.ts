/** The context keys for `when` clauses in package.json. */
import { commands } from 'vscode';

/** `failed` and what follows it: why the projects couldn't be loaded, one value for each welcome text. */
export type ViewState =
  | 'signedOut'
  | 'loading'
  | 'empty'
  | 'ready'
  | 'failed'
  | 'failedAddress'
  | 'failedUnreachable'
  | 'failedCertificate'
  | 'failedWebPage'
  | 'failedKey'
  | 'failedOrganization'
  | 'failedLocalServiceSilent'
  | 'failedLocalServiceKey'
  | 'failedLocalServiceEnded';

let current: ViewState | undefined;

export function setViewState(state: ViewState): void {
  if (state === current) return;
  current = state;
  setContext('hostedPostgres.state', state);
}

/** Hides Start Compute and Suspend Compute if the service doesn't offer them. */
export const setStartOffered = (isOffered: boolean): void =>
  setContext('hostedPostgres.startNotOffered', !isOffered);

let areBranchesOffered = true;

/** Hides the commands that change branches and projects if the service or the key has none to list. */
export function setBranchesOffered(areOffered: boolean): void {
  if (areOffered === areBranchesOffered) return;
  areBranchesOffered = areOffered;
  setContext('hostedPostgres.branchesNotOffered', !areOffered);
}

const setContext = (key: string, value: unknown): void =>
  void commands.executeCommand('setContext', key, value);
