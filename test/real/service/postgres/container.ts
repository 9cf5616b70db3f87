/** Namespaces, by which two containers of one machine don't see each other's processes. */
import { spawnSync } from 'node:child_process';

const NAMESPACES = ['unshare', '--uts', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc'];

/** A command that runs the one that is appended to it. It ignores signals, except for SIGKILL, with which both end. */
export const inContainer = (name: string): string[] =>
  NAMESPACES.concat('sh', '-c', `hostname ${name}; exec "$@"`, 'sh');

export function canContain(): boolean {
  const [command = '', ...args] = inContainer('test');
  return spawnSync(command, [...args, 'true']).status === 0;
}
