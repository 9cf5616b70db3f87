/** The window's context keys, and the conditions of package.json that use them. */

/** `failed` and the values after it: why the projects couldn't be loaded. There is a welcome text for each. */
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
  | 'failedPublicKey'
  | 'failedOrganization'
  | 'failedLocalServiceSilent'
  | 'failedLocalServiceKey'
  | 'failedLocalServiceRevoked'
  | 'failedLocalServiceEnded';

/** Context keys by their names without `hostedPostgres.`, with the values they have. */
export interface ContextKeys {
  readonly state: ViewState;
  readonly namesFirst: boolean;
  readonly startNotOffered: boolean;
  readonly branchesNotOffered: boolean;
  readonly localServiceRuns: boolean;
  readonly followsGit: boolean;
  readonly mcpInUse: boolean;
}

type Flag = Exclude<keyof ContextKeys, 'state'>;

export const all = (...conditions: readonly string[]): string => conditions.join(' && ');
export const is = (key: Flag): string => `hostedPostgres.${key}`;
export const isNot = (key: Flag): string => `!hostedPostgres.${key}`;
export const inState = (state: ViewState): string => `hostedPostgres.state == ${state}`;

const notInState = (state: ViewState): string => `hostedPostgres.state != ${state}`;

export const SIGNED_IN = notInState('signedOut');
export const FAILED = 'hostedPostgres.state =~ /^failed/';
export const LOADED = 'hostedPostgres.state =~ /^(ready|empty)$/';
export const HAS_BRANCHES = isNot('branchesNotOffered');
export const CAN_START = isNot('startNotOffered');
export const TRUSTED = 'isWorkspaceTrusted';
export const IN_FOLDER = all(TRUSTED, 'workspaceFolderCount > 0');

/** The text in place of the projects, as a key of package.nls.json. */
export const WELCOME_TEXTS: Readonly<Record<Exclude<ViewState, 'loading' | 'ready'>, string>> = {
  signedOut: 'welcome.signedOut',
  empty: 'welcome.empty',
  failed: 'welcome.failed',
  failedAddress: 'welcome.address',
  failedUnreachable: 'welcome.unreachable',
  failedCertificate: 'welcome.certificate',
  failedWebPage: 'welcome.webPage',
  failedLocalServiceSilent: 'welcome.localServiceSilent',
  failedLocalServiceKey: 'welcome.localServiceKey',
  failedLocalServiceRevoked: 'welcome.localServiceRevoked',
  failedLocalServiceEnded: 'welcome.localServiceEnded',
  failedKey: 'welcome.key',
  failedPublicKey: 'welcome.publicKey',
  failedOrganization: 'welcome.organization',
};
