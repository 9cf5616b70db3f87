/** Connection URIs of computes. They contain a password, so they are secrets. */
import type { BranchLogin } from '../core/computeEngine.ts';

export function connectionUriOf({ role, password, database }: BranchLogin, host: string): string {
  const user = `${encodeURIComponent(role)}:${encodeURIComponent(password)}`;
  return `postgresql://${user}@${host}/${encodeURIComponent(database)}`;
}
