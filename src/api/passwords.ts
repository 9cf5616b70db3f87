/** New passwords for a new branch, which has those of its parent: with one of them, one could log in to the parent. */
import type { Role } from './records/records.ts';

export const canLogIn = (role: Role): boolean => role.authentication_method !== 'no_login';

/** The names of roles. */
interface RenewedRoles {
  readonly renewed: readonly string[];
  /** The roles whose passwords the service doesn't change. */
  readonly kept: readonly string[];
}

/** @param reset gives a role a new password. It returns false if the service doesn't change that of this role */
export async function renewPasswords(
  roles: readonly Role[],
  reset: (role: string) => Promise<boolean>,
): Promise<RenewedRoles> {
  const [renewed, kept]: [string[], string[]] = [[], []];
  for (const { name } of roles.filter(canLogIn)) ((await reset(name)) ? renewed : kept).push(name);
  return { renewed, kept };
}
