/**
 * The role and the database that connection strings begin with. Nobody should have to type, or guess, what was used for
 * the project before, or what every branch of the local service has.
 */
import type { Memory } from '../operations/operationTracker.ts';
import type { Session } from '../account/session.ts';

export interface LoginNames {
  /** Empty where it is not known. */
  readonly role: string;
  readonly database: string;
}

interface UsedLogin extends LoginNames {
  readonly projectId: string;
}

/** What every branch of the local service has, and nobody is told elsewhere. */
export const LOCAL_LOGIN: LoginNames = { role: 'app_owner', database: 'app' };

const ENTRY = 'hostedPostgres.logins';

/** Projects kept; the one used longest ago is forgotten first. */
const MOST = 50;

export class KnownLogins {
  readonly #session: Pick<Session, 'connection'>;
  readonly #memory: Memory;

  constructor(session: Pick<Session, 'connection'>, memory: Memory) {
    this.#session = session;
    this.#memory = memory;
  }

  /** @param set what the settings say, which comes first */
  propose(projectId: string | undefined, set: LoginNames): LoginNames {
    const used = this.#used().find((login) => login.projectId === projectId);
    const local = this.#session.connection?.isLocal === true ? LOCAL_LOGIN : undefined;
    return {
      role: set.role || used?.role || local?.role || '',
      database: set.database || used?.database || local?.database || '',
    };
  }

  async remember(projectId: string, { role, database }: LoginNames): Promise<void> {
    const others = this.#used().filter((login) => login.projectId !== projectId);
    await this.#memory.update(ENTRY, [{ projectId, role, database }, ...others].slice(0, MOST));
  }

  #used(): readonly UsedLogin[] {
    const kept = this.#memory.get(ENTRY);
    return Array.isArray(kept) ? kept.filter(isUsedLogin) : [];
  }
}

function isUsedLogin(value: unknown): value is UsedLogin {
  if (typeof value !== 'object' || value === null) return false;
  const { projectId, role, database } = value as Partial<UsedLogin>;
  return [projectId, role, database].every((text) => typeof text === 'string');
}
