/** Reasons other than the service's for which a change wasn't made. */

export class NotConnectedError extends Error {
  override readonly name = 'NotConnectedError';

  constructor() {
    super('Not connected. Run “Hosted Postgres: Connect…”.');
  }
}

/** Thrown if a change isn't made, because another window has switched the account. */
export class AccountSwitchedError extends Error {
  override readonly name = 'AccountSwitchedError';

  constructor() {
    super('This window has switched to another account. Nothing was changed.');
  }
}

/** Thrown if the connection has ended: the key was replaced, another account was chosen, or the user has signed out. */
export class ConnectionClosedError extends Error {
  override readonly name = 'ConnectionClosedError';
  /** Whether the change may have been made. */
  readonly mayHaveExecuted: boolean;

  constructor(mayHaveExecuted: boolean) {
    super('The account or key of this window has changed in the meantime.');
    this.mayHaveExecuted = mayHaveExecuted;
  }
}

/** Features that not every service or key offers. */
export type OptionalFeature =
  | 'startAndSuspend'
  | 'projects'
  | 'passwords'
  | 'schemas'
  | 'snapshots'
  | 'restoring';

/** Thrown if the service doesn't offer the call for a change. */
export class NotOfferedError extends Error {
  override readonly name = 'NotOfferedError';
  readonly feature: OptionalFeature;

  constructor(feature: OptionalFeature) {
    super(`The service or the key doesn't offer this call: ${feature}`);
    this.feature = feature;
  }
}

/** Thrown if a deletion failed, and so did protecting the branch again. */
export class ProtectionLostError extends Error {
  override readonly name = 'ProtectionLostError';

  /** @param cause why the deletion failed */
  constructor(cause: unknown) {
    super('The branch is no longer protected', { cause });
  }
}
