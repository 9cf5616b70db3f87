/** Why no answer came, from what fetch rejects with: undici's errors wrap the system's, sometimes several layers deep. */
import { ApiError } from '../errors.ts';

/** System calls and failures that come before the first byte of a request. */
const BEFORE_SENDING: ReadonlySet<string> = new Set(['connect', 'getaddrinfo']);
const NEVER_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Codes of Node and OpenSSL for a certificate that is not to be trusted. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS_|ERR_SSL_|INVALID_CA|HOSTNAME_MISMATCH/;

interface SystemError {
  readonly code: string;
  readonly syscall: string | undefined;
}

const textOf = (error: Error, name: 'code' | 'syscall'): string | undefined => {
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' ? value : undefined;
};

/** The innermost reason: several addresses of one host fail as one AggregateError. */
function systemError(error: unknown, depth = 0): SystemError | undefined {
  if (!(error instanceof Error) || depth > 8) return undefined;
  const many: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  const inner = systemError(error.cause, depth + 1) ?? systemError(many, depth + 1);
  const code = textOf(error, 'code');
  return inner ?? (code === undefined ? undefined : { code, syscall: textOf(error, 'syscall') });
}

/** Whether the certificate is the reason: nothing was sent then, and trying again does not help. */
export const isCertificateCode = (code: string | undefined): boolean =>
  code !== undefined && CERTIFICATE.test(code);

/** What a fetch rejected with, as a fault of kind `network`. */
export function networkFailure(error: unknown): ApiError {
  const found = systemError(error);
  const neverSent =
    found !== undefined &&
    (BEFORE_SENDING.has(found.syscall ?? '') ||
      NEVER_CONNECTED.has(found.code) ||
      isCertificateCode(found.code));
  return new ApiError(
    found?.code ?? 'the connection failed',
    { kind: 'network', code: found?.code },
    { mayHaveExecuted: !neverSent },
  );
}
