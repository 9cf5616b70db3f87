/** What the service answers when it says no: a client's fault or a broken rule, never an accident of our own. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export const notFound = (what: string, id: string): Refusal =>
  new Refusal(404, 'NOT_FOUND', `There is no ${what} ${JSON.stringify(id.slice(0, 80))}.`);

/** A well-formed request that breaks a rule of the specification. */
export const ruleBroken = (message: string): Refusal => new Refusal(422, 'RULE_BROKEN', message);

/** A request that contradicts what is there now. */
export const conflict = (message: string): Refusal => new Refusal(409, 'CONFLICT', message);
