/**
 * The passwords that the service gave to roles of a branch, in `passwords.json` next to its data. Postgres has only a
 * verifier of each password, which also decides whether a password is still valid: a user may have changed it in SQL.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import type { BranchRole } from '../../core/computeEngine.ts';
import { readOrCreateBranchLogin, matchesVerifier, newPassword } from './logins.ts';
import { readPrivateJson, writePrivateFile } from '../storage/privateFiles.ts';

/** Timestamps are ISO 8601 UTC. */
const StoredRole = z.object({
  name: z.string(),
  /** The passwords of a role: two until Postgres has confirmed a change. */
  passwords: z.array(z.string()),
  createdAt: z.optional(z.string()),
  updatedAt: z.string(),
});
type StoredRole = z.infer<typeof StoredRole>;

const REMEDY = "remove it and reset the passwords of the branch's roles";

/** Stores the passwords of a branch's roles. */
export class RolePasswords {
  readonly #folder: string;

  /** @param folder the folder of the branch */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns when a role was created and changed, if known. */
  timestampsOf(name: string): Pick<BranchRole, 'createdAt' | 'updatedAt'> {
    const { createdAt, updatedAt } = this.#find(name) ?? {};
    return {
      ...(createdAt === undefined ? {} : { createdAt }),
      ...(updatedAt === undefined ? {} : { updatedAt }),
    };
  }

  /** @param verifier the role's `rolpassword` @returns undefined if the service doesn't know the password */
  find(name: string, verifier: string | null): string | undefined {
    if (verifier === null) return undefined;
    const login = readOrCreateBranchLogin(this.#folder);
    const first = login.role === name ? [login.password] : [];
    const candidates = [...(this.#find(name)?.passwords ?? []), ...first];
    return candidates.find((password) => matchesVerifier(password, verifier));
  }

  /**
   * Gives a role a new password. If the service is killed at any point, the file contains the password that the role has.
   * @param verifier null for a new role
   * @param apply sets the password in Postgres
   */
  async change(
    name: string,
    verifier: string | null,
    apply: (password: string) => Promise<unknown>,
  ): Promise<string> {
    const password = newPassword();
    const current = this.find(name, verifier);
    const createdAt = this.#find(name)?.createdAt;
    const write = (passwords: string[]) => {
      const updatedAt = new Date().toISOString();
      this.#write(name, { name, createdAt: verifier === null ? updatedAt : createdAt, updatedAt, passwords });
    };
    write(current === undefined ? [password] : [current, password]);
    // If this fails, Postgres may have executed it nevertheless, so both are kept.
    await apply(password);
    // The time is that after the commit: data of a moment just before the commit have the old password.
    write([password]);
    return password;
  }

  /** Returns the passwords, by role, that were given after a time (milliseconds since 1970), or in the same millisecond. */
  changedSince(time: number): ReadonlyMap<string, string> {
    const changed = this.#read().filter(({ updatedAt }) => Date.parse(updatedAt) >= Math.floor(time));
    return new Map(changed.map(({ name, passwords }) => [name, passwords.at(-1) ?? '']));
  }

  /** The passwords that connection strings of the branch have, by role. */
  get all(): ReadonlyMap<string, string> {
    const { role, password } = readOrCreateBranchLogin(this.#folder);
    return new Map([[role, password], ...this.changedSince(-Infinity)]);
  }

  /** Notes passwords that roles are to get. They have their old ones until `confirm` is called. */
  plan(wanted: ReadonlyMap<string, string>): void {
    const current = this.all;
    const updatedAt = new Date().toISOString();
    for (const [name, password] of wanted)
      if (current.get(name) !== password) {
        const passwords = [current.get(name) ?? password, password];
        this.#write(name, { createdAt: this.#find(name)?.createdAt, updatedAt, name, passwords });
      }
  }

  /** The passwords that roles don't have in Postgres yet, by role. */
  get planned(): ReadonlyMap<string, string> {
    const roles = this.#read().filter(({ passwords }) => passwords.length > 1);
    return new Map(roles.map(({ name, passwords }) => [name, passwords.at(-1) ?? '']));
  }

  /** Records passwords that Postgres has. */
  confirm(passwords: ReadonlyMap<string, string>): void {
    const updatedAt = new Date().toISOString();
    for (const [name, password] of passwords)
      this.#write(name, { createdAt: this.#find(name)?.createdAt, updatedAt, name, passwords: [password] });
  }

  remove(name: string): void {
    if (this.#find(name) !== undefined) this.#write(name, undefined);
  }

  get #file(): string {
    return path.join(this.#folder, 'passwords.json');
  }

  #find(name: string): StoredRole | undefined {
    return this.#read().find((role) => role.name === name);
  }

  #read(): readonly StoredRole[] {
    return existsSync(this.#file) ? readPrivateJson(this.#file, z.array(StoredRole), REMEDY) : [];
  }

  #write(name: string, role: StoredRole | undefined): void {
    const others = this.#read().filter((each) => each.name !== name);
    writePrivateFile(this.#file, JSON.stringify(role === undefined ? others : [...others, role]));
  }
}
