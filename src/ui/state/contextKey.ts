/** The context key `hostedPostgres.state`, for `when` clauses in package.json. The extension has no other. */
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
  | 'failedLocalServiceEnded';

let current: ViewState | undefined;

export function setViewState(state: ViewState): void {
  if (state === current) return;
  current = state;
  void commands.executeCommand('setContext', 'hostedPostgres.state', state);
}
