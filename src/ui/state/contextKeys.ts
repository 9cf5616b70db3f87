/** What `when` clauses can ask for. The only place that sets context keys. */
import { commands } from 'vscode';
import type { SessionState } from '../../model/session.ts';

const told = new Map([
  ['help', ''],
  ['obstacle', ''],
  ['keys', ''],
]);

function set(key: string, value: string): void {
  if (told.get(key) === value) return;
  told.set(key, value);
  void commands.executeCommand('setContext', `hostedPostgres.${key}`, value);
}

/** `hostedPostgres.state`: what the session is, or before it began, what it may be expected to be. */
export const setState = (state: SessionState['kind']): void => set('state', state);

/** `hostedPostgres.help`: what helps when the session failed, and nothing otherwise. */
export const setHelp = (help: string): void => set('help', help);

/** `hostedPostgres.obstacle`: what keeps the service from being reached, and nothing otherwise. */
export const setObstacle = (obstacle: string): void => set('obstacle', obstacle);

/** `hostedPostgres.keys`: `hidden` where the key in use may neither see nor make keys, and nothing otherwise. */
export const setKeys = (keys: string): void => set('keys', keys);
