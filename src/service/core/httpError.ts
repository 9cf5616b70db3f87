/** What the service answers when it says no: a client's fault or a broken rule, never an accident of our own. */
export class HttpError extends Error {
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

export const notFound = (what: string, id: string): HttpError =>
  new HttpError(404, 'NOT_FOUND', `There is no ${what} ${JSON.stringify(id.slice(0, 80))}.`);

/** A well-formed request that breaks a rule of the specification. */
export const unprocessable = (message: string): HttpError => new HttpError(422, 'RULE_BROKEN', message);

/** A request that contradicts what is there now. */
export const conflict = (message: string): HttpError => new HttpError(409, 'CONFLICT', message);
