/** The service's errors for its clients and for the user who starts it, and messages for errors of zod. */
import type * as z from 'zod/mini';

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

/** Returns the error for a well-formed request that breaks a rule of the specification. */
export const unprocessable = (message: string): HttpError => new HttpError(422, 'RULE_BROKEN', message);

/** Returns the error for a request that conflicts with the current state. */
export const conflict = (message: string, code = 'CONFLICT'): HttpError => new HttpError(409, code, message);

/** Returns the error for a resource that can't provide what is requested, such as a password that the service doesn't know. */
export const preconditionFailed = (message: string): HttpError =>
  new HttpError(412, 'PRECONDITION_FAILED', message);

/** Each reason has its own exit code, so that scripts can distinguish them. */
const EXIT_CODES = {
  usage: 2,
  alreadyRunning: 3,
  portInUse: 4,
  notUsable: 5,
  newerFormat: 6,
  corrupt: 7,
  projectsFile: 8,
  revokedKey: 9,
  olderFormat: 10,
} as const;

/** Why the service cannot start, or can no longer write its data; `message` is one line for users. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly exitCode: number;

  constructor(reason: keyof typeof EXIT_CODES, message: string) {
    super(message);
    this.exitCode = EXIT_CODES[reason];
  }
}

export const unusableStartError = (message: string): StartError => new StartError('notUsable', message);

/** Describes a problem that zod found, with the name of the field. zod/mini has no messages. */
export function formatIssue(issue: z.core.$ZodIssue): string {
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const field = [...issue.path, ...unknown].map(String).join('.').slice(0, 200);
  return `${field || 'top level'}: ${issueText(issue)}`;
}

function issueText(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      // zod does not say whether the value is missing or has another type.
      return `must be present and of type ${issue.expected}`;
    case 'unrecognized_keys':
      return 'is not a supported attribute';
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(' or ')}`;
    case 'too_small':
      return issue.origin === 'string'
        ? `must have at least ${issue.minimum} characters`
        : `must be at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `must have at most ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}
