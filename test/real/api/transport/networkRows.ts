/** The faults of `network.test.ts` and the expected outcomes. */
import type { ApiFault } from '../../../../src/api/transport/errors.ts';
import type { HttpOptions } from '../../../../src/api/transport/http.ts';
import type { FaultyAddressName } from '../../../helpers/faultProxyAddresses.ts';
import type { FaultName } from '../../../helpers/faultProxyFaults.ts';

export const ALWAYS = Number.POSITIVE_INFINITY;

export type Call = 'read' | 'change';
/** `answer`: the call succeeds. Otherwise the expected properties of the error's fault. */
export type Outcome = 'answer' | Expected;

type Expected = Pick<ApiFault, 'kind'> & Readonly<Record<string, string | number>>;

export interface Row {
  readonly fault: FaultName;
  readonly call: Call;
  readonly times: number;
  readonly expected: Outcome;
  readonly attempts: number;
  readonly mayHaveExecuted: boolean;
  /** Whether the service made the change. By default, if the call succeeds. */
  readonly made?: boolean;
  readonly options?: Partial<HttpOptions>;
  /** The fault is injected into an earlier call, which succeeds. */
  readonly primed?: boolean;
}

const network: Expected = { kind: 'network' };
const reset: Expected = { kind: 'network', code: 'ECONNRESET' };
const timeout: Expected = { kind: 'timeout' };
const rejected = (status: number): Expected => ({ kind: 'rejected', status });
const unexpected = (reason: string, status = 200): Expected => ({ kind: 'unexpectedReply', reason, status });
export const shortTimes = { limits: { attempt: 2000 }, retries: 1 };
const patient = { maxDelay: 5000 };

const read = (fault: FaultName, expected: Outcome, attempts: number, more: Partial<Row> = {}): Row => {
  return { fault, call: 'read', times: 1, expected, attempts, mayHaveExecuted: false, ...more };
};

const change = (
  fault: FaultName,
  expected: Outcome,
  mayHaveExecuted: boolean,
  more: Partial<Row> = {},
): Row => {
  return { fault, call: 'change', times: 1, expected, attempts: 1, mayHaveExecuted, ...more };
};

/** Reads that succeed after a single fault, and fail like this if it persists. */
const reads: readonly Row[] = (
  [
    ['resetBeforeHeaders', reset],
    ['closedBeforeHeaders', network],
    ['resetMidBody', reset],
    ['headerFlood', network],
    ['noHttp', network],
    ['internalError', rejected(500)],
    ['proxyErrorPage', rejected(502)],
    ['gatewayTimeoutAfter', rejected(504)],
    ['unavailable', rejected(503)],
    ['unavailablePage', rejected(503)],
    ['requestTimeout', rejected(408)],
    ['tooMany', rejected(429)],
    ['locked', rejected(423)],
    // Per specification, fetch fails without the response.
    ['proxyLogin', network],
  ] as const
).flatMap(([fault, expected]) => [
  read(fault, 'answer', 2),
  read(fault, expected, fault === 'locked' ? 13 : 3, { times: ALWAYS }),
]);

const finalReads: readonly Row[] = (
  [
    ['truncatedJson', unexpected('json')],
    ['captivePortal', unexpected('html')],
    ['redirect301', unexpected('redirect', 301)],
    ['redirect302', unexpected('redirect', 302)],
    ['redirect307', unexpected('redirect', 307)],
    ['noContent', unexpected('shape', 204)],
    ['emptyBody', unexpected('shape')],
    ['wrongShape', unexpected('shape')],
    ['nullBody', unexpected('shape')],
    ['hugeBody', unexpected('tooLarge')],
    ['endlessBody', unexpected('tooLarge')],
    ['gzipBomb', unexpected('tooLarge')],
    ['forbiddenPage', rejected(403)],
    ['notFound', rejected(404)],
    ['methodNotAllowed', rejected(405)],
    ['echoedKey', rejected(400)],
    ['oddStatus', rejected(999)],
    ['tooManyForAnHour', { ...rejected(429), retryAfter: 3600 }],
  ] as const
).map(([fault, expected]) => read(fault, expected, 1));

/** Changes that the service has rejected for now. */
const repeatedChanges: readonly Row[] = (
  [
    ['locked', 423, 13],
    ['unavailable', 503, 3],
    ['tooMany', 429, 3],
  ] as const
).flatMap(([fault, status, attempts]) => [
  change(fault, 'answer', false, { attempts: 2 }),
  change(fault, rejected(status), false, { times: ALWAYS, attempts }),
]);

const MADE = { made: true };
const changes: readonly Row[] = [
  change('unavailablePage', rejected(503), true),
  change('unavailablePageAfter', rejected(503), true, MADE),
  change('unavailableEmptyAfter', rejected(503), true, MADE),
  change('unavailableGatewayAfter', rejected(503), true, MADE),
  change('tooManyForSeconds', 'answer', false, { attempts: 2, options: patient }),
  change('tooManyForAnHour', { ...rejected(429), retryAfter: 3600 }, false),
  change('requestTimeout', rejected(408), false),
  change('forbiddenPage', rejected(403), false),
  change('notFound', rejected(404), false),
  change('methodNotAllowed', rejected(405), false),
  change('echoedKey', rejected(400), false),
  change('resetBeforeHeaders', reset, true),
  change('closedBeforeHeaders', network, true),
  change('resetMidBody', reset, true, MADE),
  change('resetAfter', reset, true, MADE),
  change('internalError', rejected(500), true),
  change('oddStatus', rejected(999), true),
  change('badGatewayAfter', rejected(502), true, MADE),
  change('gatewayTimeoutAfter', rejected(504), true, MADE),
  change('truncatedJson', unexpected('json', 201), true, MADE),
  change('captivePortal', unexpected('html'), true),
  change('redirect307', unexpected('redirect', 307), true),
  change('noContent', unexpected('shape', 204), true),
  change('emptyBody', unexpected('shape'), true),
  change('wrongShape', unexpected('shape'), true),
  change('endlessBody', unexpected('tooLarge'), true),
  change('noAnswerAfter', timeout, true, { made: true, options: shortTimes }),
  change('slowDrip', timeout, true, { options: shortTimes }),
  change('keepAliveRace', reset, true, { primed: true }),
];

const slow: readonly Row[] = [
  read('noAnswer', 'answer', 2, { options: shortTimes }),
  read('noAnswer', timeout, 2, { times: ALWAYS, options: shortTimes }),
  read('noAnswer', timeout, 1, { options: { limits: { total: 500 } } }),
  read('slowDrip', timeout, 2, { times: ALWAYS, options: shortTimes }),
  read('tooManyForSeconds', 'answer', 2, { options: patient }),
  read('tooManyUntilDate', 'answer', 2, { options: patient }),
  read('byteOrderMark', 'answer', 1),
  read('keepAliveRace', 'answer', 2, { primed: true }),
];

export const ADDRESS_ROWS: readonly {
  readonly address: FaultyAddressName;
  readonly code: RegExp;
  readonly retries: number;
  readonly mayHaveExecuted?: boolean;
}[] = [
  { address: 'connectionRefused', code: /^ECONNREFUSED$/, retries: 2 },
  { address: 'unknownHost', code: /^(ENOTFOUND|EAI_AGAIN)$/, retries: 2 },
  { address: 'selfSignedCertificate', code: /^DEPTH_ZERO_SELF_SIGNED_CERT$/, retries: 0 },
  { address: 'unknownAuthority', code: /^UNABLE_TO_VERIFY_LEAF_SIGNATURE$/, retries: 0 },
  { address: 'expiredCertificate', code: /^CERT_HAS_EXPIRED$/, retries: 0 },
  { address: 'otherHostsCertificate', code: /^ERR_TLS_CERT_ALTNAME_INVALID$/, retries: 0 },
  // OpenSSL's errors may also come after the request was sent, and can't be distinguished from these.
  { address: 'noTls', code: /SSL|EPROTO/, retries: 0, mayHaveExecuted: true },
];

export const ROWS: readonly Row[] = [...reads, ...finalReads, ...repeatedChanges, ...changes, ...slow];
