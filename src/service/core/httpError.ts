/** An error reply to a client: its request is wrong or breaks a rule. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
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

export const badRequest = (message: string): HttpError => new HttpError(400, 'BAD_REQUEST', message);

export const notFound = (what: string, id: string): HttpError =>
  new HttpError(404, 'NOT_FOUND', `There is no ${what} ${JSON.stringify(id.slice(0, 80))}.`);

/** A well-formed request that breaks a rule of the specification. */
export const unprocessable = (message: string): HttpError => new HttpError(422, 'RULE_BROKEN', message);

/** A request that contradicts the current state. */
export const conflict = (message: string): HttpError => new HttpError(409, 'CONFLICT', message);

/** A request for what exists but cannot be had as it is now, such as an unknown password. */
export const preconditionFailed = (message: string): HttpError =>
  new HttpError(412, 'PRECONDITION_FAILED', message);
