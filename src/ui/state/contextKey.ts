/** The context keys for `when` clauses in package.json. */
import { commands } from 'vscode';
import type { OptionalFeature } from '../../model/changeErrors.ts';

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

/** Hides the actions that call it. Others are rare enough for a message. */
export function hideNotOffered(feature: OptionalFeature): void {
  if (feature === 'startAndSuspend') setStartOffered(false);
}

export const setStartOffered = (isOffered: boolean): void =>
  setContext('hostedPostgres.startNotOffered', !isOffered);

let areBranchesOffered = true;

/** Hides the commands that change branches and projects if the service or the key has none to list. */
export function setBranchesOffered(areOffered: boolean): void {
  if (areOffered === areBranchesOffered) return;
  areBranchesOffered = areOffered;
  setContext('hostedPostgres.branchesNotOffered', !areOffered);
}

/** For the menu of the view, which offers the other order. */
export const setNamesFirstKey = (areFirst: boolean): void =>
  setContext('hostedPostgres.namesFirst', areFirst);

const setContext = (key: string, value: unknown): void =>
  void commands.executeCommand('setContext', key, value);
