/** The context keys for `when` clauses in package.json. */
import { commands } from 'vscode';
import type { OptionalFeature } from '../changeErrors.ts';
import type { ContextKeys, ViewState } from '../../commandTable/when.ts';

const current = new Map<string, unknown>();

function setContext<K extends keyof ContextKeys>(name: K, value: ContextKeys[K]): void {
  if (current.get(name) === value) return;
  current.set(name, value);
  const key = `hostedPostgres.${name}`;
  void commands.executeCommand('setContext', key, value);
}

export const setViewState = (state: ViewState): void => setContext('state', state);

/**
 * Hides the actions for a feature that the service doesn't offer, if it is starting and suspending, or snapshots. Actions for
 * other features are used so rarely that an error message is enough.
 */
export function hideNotOffered(feature: OptionalFeature): void {
  if (feature === 'startAndSuspend') setContext('startNotOffered', true);
  if (feature === 'snapshots') setContext('snapshotsNotOffered', true);
}

/** Shows everything again for another account, whose service may offer what is hidden. */
export function showFeatures(): void {
  setContext('startNotOffered', false);
  setContext('snapshotsNotOffered', false);
}

/** Hides the commands that change branches and projects if the service doesn't list branches, at all or to this key. */
export const setBranchesOffered = (areOffered: boolean): void =>
  setContext('branchesNotOffered', !areOffered);

/** Notes whether this window uses the running local service, so that Start isn't offered as well as Stop. */
export const setLocalServiceRuns = (runs: boolean): void => setContext('localServiceRuns', runs);

/** Notes whether the local service of this machine has data but isn't used, so that the welcome text says that they are kept. */
export const setLocalServiceStopped = (isStopped: boolean): void =>
  setContext('localServiceStopped', isStopped);

/** Notes whether names come before ids, so that the view's menu offers the other order. */
export const setNamesFirstKey = (areFirst: boolean): void => setContext('namesFirst', areFirst);

/** Notes whether the env file follows the git branch, because the palette offers either to follow it or to stop that. */
export const setFollowsGit = (isFollowed: boolean): void => setContext('followsGit', isFollowed);

/** Notes whether the service has a console whose pages are known. */
export const setHasConsole = (hasConsole: boolean): void => setContext('hasConsole', hasConsole);

/** Notes whether VS Code's chat gets the tools from the MCP server. If so, the extension doesn't offer them a second time. */
export const setMcpInUse = (isInUse: boolean): void => setContext('mcpInUse', isInUse);
