/**
 * Gives the roles of a new branch new passwords. At first, a branch has those of its parent, so that they could be used to
 * log in to the parent.
 */
import type { Role } from './records/records.ts';

export const canLogIn = (role: Role): boolean => role.authentication_method !== 'no_login';

/** The names of roles. */
interface RenewedRoles {
  readonly renewed: readonly string[];
  /** The roles whose passwords the service doesn't change. */
  readonly kept: readonly string[];
}

/** @param reset gives a role a new password. It returns false if the service doesn't change the password of this role */
export async function renewPasswords(
  roles: readonly Role[],
  reset: (role: string) => Promise<boolean>,
): Promise<RenewedRoles> {
  const [renewed, kept]: [string[], string[]] = [[], []];
  for (const { name } of roles.filter(canLogIn)) ((await reset(name)) ? renewed : kept).push(name);
  return { renewed, kept };
}
