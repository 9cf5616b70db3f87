/** The faults of `network.test.ts` and the expected outcomes. */
import type { Fault } from '../../src/api/errors.ts';
import type { HttpOptions } from '../../src/api/transport/http.ts';
import type { FaultyAddressName } from '../helpers/faultProxyAddresses.ts';
import type { FaultName } from '../helpers/faultProxyFaults.ts';

export const ALWAYS = Number.POSITIVE_INFINITY;

export type Call = 'read' | 'change';
/** `answer`: the call succeeds. Otherwise the expected properties of the error's fault. */
export type Gets = 'answer' | Expected;

type Expected = Pick<Fault, 'kind'> & Readonly<Record<string, string | number>>;

export interface Row {
  readonly fault: FaultName;
  readonly call: Call;
  readonly times: number;
  readonly gets: Gets;
  readonly attempts: number;
  readonly mayHaveExecuted?: boolean;
  /** Whether the service made the change. By default, if the call succeeds. */
  readonly made?: boolean;
  readonly options?: Partial<HttpOptions>;
  /** The fault is injected into an earlier call, which succeeds. */
  readonly primed?: boolean;
}

const network: Expected = { kind: 'network' };
const reset: Expected = { kind: 'network', code: 'ECONNRESET' };
const rejected = (status: number): Expected => ({ kind: 'rejected', status });
const odd = (reason: string, status = 200): Expected => ({ kind: 'unexpectedReply', reason, status });
export const shortTimes = { limits: { attempt: 2000 }, retries: 1 };
const patient = { maxDelay: 5000 };

/** Reads that succeed after a single fault, and fail like this if it persists. */
const reads: readonly Row[] = (
  [
    ['resetBeforeHeaders', reset, 2],
    ['closedBeforeHeaders', network, 2],
    ['resetMidBody', reset, 2],
    ['headerFlood', network, 2],
    ['noHttp', network, 2],
    ['internalError', rejected(500), 2],
    ['proxyErrorPage', rejected(502), 2],
    ['gatewayTimeoutAfter', rejected(504), 2],
    ['unavailable', rejected(503), 2],
    ['unavailablePage', rejected(503), 2],
    ['requestTimeout', rejected(408), 2],
    ['tooMany', rejected(429), 2],
    ['locked', rejected(423), 2],
    // Per specification, fetch fails without the response.
    ['proxyLogin', network, 2],
  ] as const
).flatMap(([fault, gets]) => [
  { fault, call: 'read', times: 1, gets: 'answer', attempts: 2 },
  { fault, call: 'read', times: ALWAYS, gets, attempts: fault === 'locked' ? 13 : 3, mayHaveExecuted: false },
]);

const finalReads: readonly Row[] = (
  [
    ['truncatedJson', odd('json')],
    ['captivePortal', odd('html')],
    ['redirect301', odd('redirect', 301)],
    ['redirect302', odd('redirect', 302)],
    ['redirect307', odd('redirect', 307)],
    ['noContent', odd('shape', 204)],
    ['emptyBody', odd('shape')],
    ['wrongShape', odd('shape')],
    ['nullBody', odd('shape')],
    ['hugeBody', odd('tooLarge')],
    ['endlessBody', odd('tooLarge')],
    ['hugeLength', odd('tooLarge')],
    ['gzipBomb', odd('tooLarge')],
    ['forbiddenPage', rejected(403)],
    ['methodNotAllowed', rejected(405)],
    ['echoedKey', rejected(400)],
    ['oddStatus', rejected(999)],
    ['tooManyForAnHour', { ...rejected(429), retryAfter: 3600 }],
  ] as const
).map(([fault, gets]) => finalRead(fault, gets));

function finalRead(fault: FaultName, gets: Gets): Row {
  return { fault, call: 'read', times: 1, gets, attempts: 1, mayHaveExecuted: false };
}

const change = (fault: FaultName, gets: Gets, mayHaveExecuted: boolean, made = false): Row => {
  return { fault, call: 'change', times: 1, gets, attempts: 1, mayHaveExecuted, made };
};

const changes: readonly Row[] = [
  { fault: 'locked', call: 'change', times: 1, gets: 'answer', attempts: 2 },
  {
    fault: 'locked',
    call: 'change',
    times: ALWAYS,
    gets: rejected(423),
    attempts: 13,
    mayHaveExecuted: false,
  },
  { fault: 'unavailable', call: 'change', times: 1, gets: 'answer', attempts: 2 },
  {
    fault: 'unavailable',
    call: 'change',
    times: ALWAYS,
    gets: rejected(503),
    attempts: 3,
    mayHaveExecuted: false,
  },
  change('unavailablePage', rejected(503), true),
  change('unavailablePageAfter', rejected(503), true, true),
  change('unavailableEmptyAfter', rejected(503), true, true),
  change('unavailableGatewayAfter', rejected(503), true, true),
  { fault: 'tooMany', call: 'change', times: 1, gets: 'answer', attempts: 2 },
  {
    fault: 'tooMany',
    call: 'change',
    times: ALWAYS,
    gets: rejected(429),
    attempts: 3,
    mayHaveExecuted: false,
  },
  { fault: 'tooManyForSeconds', call: 'change', times: 1, gets: 'answer', attempts: 2, options: patient },
  change('tooManyForAnHour', { ...rejected(429), retryAfter: 3600 }, false),
  change('requestTimeout', rejected(408), false),
  change('forbiddenPage', rejected(403), false),
  change('methodNotAllowed', rejected(405), false),
  change('echoedKey', rejected(400), false),
  change('resetBeforeHeaders', reset, true),
  change('closedBeforeHeaders', network, true),
  change('resetMidBody', reset, true, true),
  change('resetAfter', reset, true, true),
  change('internalError', rejected(500), true),
  change('oddStatus', rejected(999), true),
  change('badGatewayAfter', rejected(502), true, true),
  change('gatewayTimeoutAfter', rejected(504), true, true),
  change('truncatedJson', odd('json', 201), true, true),
  change('captivePortal', odd('html'), true),
  change('redirect307', odd('redirect', 307), true),
  change('noContent', odd('shape', 204), true),
  change('emptyBody', odd('shape'), true),
  change('wrongShape', odd('shape'), true),
  change('endlessBody', odd('tooLarge'), true),
  { ...change('noAnswerAfter', { kind: 'timeout' }, true, true), options: shortTimes },
  { ...change('slowDrip', { kind: 'timeout' }, true), options: shortTimes },
  { ...change('keepAliveRace', reset, true), primed: true },
];

const slow: readonly Row[] = [
  { fault: 'noAnswer', call: 'read', times: 1, gets: 'answer', attempts: 2, options: shortTimes },
  {
    fault: 'noAnswer',
    call: 'read',
    times: ALWAYS,
    gets: { kind: 'timeout' },
    attempts: 2,
    mayHaveExecuted: false,
    options: shortTimes,
  },
  {
    fault: 'noAnswer',
    call: 'read',
    times: 1,
    gets: { kind: 'timeout' },
    attempts: 1,
    mayHaveExecuted: false,
    options: { limits: { total: 500 } },
  },
  {
    fault: 'slowDrip',
    call: 'read',
    times: ALWAYS,
    gets: { kind: 'timeout' },
    attempts: 2,
    mayHaveExecuted: false,
    options: shortTimes,
  },
  { fault: 'tooManyForSeconds', call: 'read', times: 1, gets: 'answer', attempts: 2, options: patient },
  { fault: 'tooManyUntilDate', call: 'read', times: 1, gets: 'answer', attempts: 2, options: patient },
  { fault: 'byteOrderMark', call: 'read', times: 1, gets: 'answer', attempts: 1 },
  { fault: 'keepAliveRace', call: 'read', times: 1, gets: 'answer', attempts: 2, primed: true },
];

export const ADDRESS_ROWS: readonly {
  readonly address: FaultyAddressName;
  readonly code: RegExp;
  readonly retries: number;
}[] = [
  { address: 'connectionRefused', code: /^ECONNREFUSED$/, retries: 2 },
  { address: 'unknownHost', code: /^(ENOTFOUND|EAI_AGAIN)$/, retries: 2 },
  { address: 'selfSignedCertificate', code: /^DEPTH_ZERO_SELF_SIGNED_CERT$/, retries: 0 },
  { address: 'unknownAuthority', code: /^UNABLE_TO_VERIFY_LEAF_SIGNATURE$/, retries: 0 },
  { address: 'expiredCertificate', code: /^CERT_HAS_EXPIRED$/, retries: 0 },
  { address: 'otherHostsCertificate', code: /^ERR_TLS_CERT_ALTNAME_INVALID$/, retries: 0 },
  { address: 'noTls', code: /SSL|EPROTO/, retries: 0 },
];

export const ROWS: readonly Row[] = [...reads, ...finalReads, ...changes, ...slow];
