/** The window's context keys, and the conditions of package.json that use them. */

/**
 * The state of the Computes view. `failed` and the values after it say why the projects couldn't be loaded. Each has a welcome
 * text.
 */
export type ViewState =
  | 'signedOut'
  | 'loading'
  | 'empty'
  | 'emptyOrganization'
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
  readonly snapshotsNotOffered: boolean;
  readonly localServiceRuns: boolean;
  readonly localServiceStopped: boolean;
  readonly followsGit: boolean;
  readonly mcpInUse: boolean;
  readonly hasConsole: boolean;
}

type Flag = Exclude<keyof ContextKeys, 'state'>;

export const allOf = (...conditions: readonly string[]): string => conditions.join(' && ');
export const isSet = (key: Flag): string => `hostedPostgres.${key}`;
export const isUnset = (key: Flag): string => `!hostedPostgres.${key}`;
export const inState = (state: ViewState): string => `hostedPostgres.state == ${state}`;

const notInState = (state: ViewState): string => `hostedPostgres.state != ${state}`;

export const SIGNED_IN = notInState('signedOut');
export const LOADING_FAILED = 'hostedPostgres.state =~ /^failed/';
export const HAS_LOADED = 'hostedPostgres.state =~ /^(ready|empty|emptyOrganization)$/';
export const HAS_BRANCHES = isUnset('branchesNotOffered');
export const HAS_SNAPSHOTS = allOf(HAS_BRANCHES, isUnset('snapshotsNotOffered'));
export const CAN_START = isUnset('startNotOffered');
export const TRUSTED = 'isWorkspaceTrusted';
export const IN_FOLDER = allOf(TRUSTED, 'workspaceFolderCount > 0');

export const SCHEMA_DOCUMENT = 'resourceScheme == hosted-postgres-schema';
export const DETAILS_PAGE = allOf('resourceScheme == hosted-postgres-details', 'resourceExtname == .md');
export const OPERATIONS_DOCUMENT = 'resourceScheme == hosted-postgres-operations';
export const ROWS_DOCUMENT = 'resourceScheme == hosted-postgres-rows';
/** A file, or the schema of a branch. */
export const SQL_DOCUMENT = 'editorLangId == sql';
/** A file or folder on the machine of the extension. */
export const ON_DISK = 'resourceScheme =~ /^(file|vscode-remote)$/';
export const SQL_FILE = allOf('resourceExtname == .sql', ON_DISK);
export const IN_COMPUTES = 'view == hostedPostgres.computes';
export const IN_API_KEYS = 'view == hostedPostgres.apiKeys';

// `viewItem` is the `contextValue` that `inventory/ui/treeItems.ts` gives a row, such as `compute active`.
export const PROJECT = 'viewItem =~ /^project\\b/';
export const BRANCH = 'viewItem =~ /^branch\\b/';
export const PROJECT_BRANCH_OR_SNAPSHOT = 'viewItem =~ /^(project|branch|snapshot)\\b/';
/** A project of a service that lists branches. */
export const LISTED_PROJECT = 'viewItem =~ /^project branches/';
export const LISTED_BRANCH = 'viewItem =~ /^branch listed/';
export const LISTED_PROJECT_OR_BRANCH = 'viewItem =~ /^(project branches|branch listed)/';
export const PROTECTED_BRANCH = 'viewItem =~ /^branch listed \\w+ protected/';
export const UNPROTECTED_BRANCH = 'viewItem =~ /^branch listed \\w+ unprotected/';
/** A branch that isn't the default one. */
export const NON_DEFAULT_BRANCH = 'viewItem =~ /^branch listed other/';
export const CHILD_BRANCH = 'viewItem =~ /^branch listed .*\\bchild\\b/';
/** A compute, or a branch with a primary, which then stands for the primary. */
export const CONNECTABLE = 'viewItem =~ /^compute |^branch\\b.* primary$/';
export const BRANCH_WITH_PRIMARY = 'viewItem =~ /^branch\\b.* primary$/';
/** Like {@link CONNECTABLE}, without rows of disabled computes. A branch's row doesn't say whether its primary is disabled. */
export const ENABLED_CONNECTABLE = 'viewItem =~ /^compute (?!disabled)|^branch\\b.* primary$/';
export const COMPUTE = 'viewItem =~ /^compute /';
export const ENABLED_COMPUTE = 'viewItem =~ /^compute (?!disabled)/';
export const STARTABLE_COMPUTE = allOf('viewItem =~ /^compute idle/', CAN_START);
/** A service that can start computes can suspend them, too. */
export const SUSPENDABLE_COMPUTE = allOf('viewItem =~ /^compute active/', CAN_START);
/** A compute of the local service, which has the log of its Postgres. */
export const LOCAL_COMPUTE = 'viewItem =~ /^compute .* local/';
export const FAILED_COMPUTE = 'viewItem =~ /^compute .* failed/';
export const RUNNING_COMPUTE = 'viewItem =~ /^compute (active|unknown)/';
/** Is true for rows that load what is below them. */
export const LAZY_ROW = 'viewItem =~ /^(databases?|table|snapshots)$/';
/** All snapshots of a branch. */
export const SNAPSHOTS = 'viewItem =~ /^snapshots$/';
export const SNAPSHOT = 'viewItem =~ /^snapshot$/';
/** All databases of a branch, or one of them. */
export const DATABASES = 'viewItem =~ /^databases?$/';
export const DATABASE_OBJECT = 'viewItem =~ /^(database|table|column|function)$/';
export const DATABASE_OR_TABLE = 'viewItem =~ /^(database|table)$/';
export const API_KEY = 'viewItem =~ /^apiKey/';
export const API_KEY_IN_USE = "viewItem == 'apiKey inUse'";

/** The text in place of the projects of each state. */
const STATE_TEXTS: Readonly<Record<Exclude<ViewState, 'signedOut' | 'loading' | 'ready'>, string>> = {
  empty: 'welcome.empty',
  emptyOrganization: 'welcome.emptyOrganization',
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

/** The texts in place of the projects, as keys of package.nls.json, with their conditions. */
export const WELCOME_TEXTS: readonly (readonly [text: string, when: string])[] = [
  ['welcome.signedOut', allOf(inState('signedOut'), isUnset('localServiceStopped'))],
  ['welcome.localServiceStopped', allOf(inState('signedOut'), isSet('localServiceStopped'))],
  ...Object.entries(STATE_TEXTS).map(([state, text]) => [text, `hostedPostgres.state == ${state}`] as const),
];
