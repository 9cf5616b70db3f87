/** Turns any error into a message for the user, with one action that helps. */
import { l10n } from 'vscode';
import {
  faultOf,
  isCertificateCode,
  isOutcomeUnknown,
  POSTGRES_MISSING,
  retryTimeOf,
  type ApiFault,
} from '../../../api/transport/errors.ts';
import {
  AccountSwitchedError,
  ConnectionClosedError,
  NotConnectedError,
  NotOfferedError,
  ProtectionLostError,
  type OptionalFeature,
} from '../changeErrors.ts';
import { SqlError } from '../sqlError.ts';
import { LocalServiceError, type LocalServiceFailure } from '../../../localService/lease.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { clockText } from './timeText.ts';

/** The action offered with the message. */
export type ErrorAction =
  | 'connect'
  | 'newKey'
  | 'retry'
  | 'log'
  | 'organization'
  | 'localService'
  | 'postgres'
  | 'mark';

interface ErrorMessage {
  readonly message: string;
  readonly action: ErrorAction;
}

/** Thrown if a change is blocked, because the user has marked the account or project as read-only. */
export class ReadOnlyError extends Error {
  override readonly name = 'ReadOnlyError';
  readonly projectId: string | undefined;

  constructor(message: string, projectId: string | undefined) {
    super(message);
    this.projectId = projectId;
  }
}

/**
 * Explains an error to the user. The message contains that of the service, sanitized.
 * @param unknownOutcome the advice if a change may have been made; by default, to check the list
 */
export function explainError(error: unknown, unknownOutcome?: string): ErrorMessage {
  const text = sanitize(error instanceof Error ? error.message : String(error));
  if (error instanceof ReadOnlyError) return { message: text, action: 'mark' };
  if (error instanceof LocalServiceError) {
    if (error.reason === 'noPostgres') return { message: text, action: 'postgres' };
    return { message: localServiceMessage(error.reason), action: 'localService' };
  }
  if (error instanceof ProtectionLostError) {
    const { message, action } = explainError(error.cause);
    return { message: `${asSentence(message)} ${l10n.t('The branch is no longer protected.')}`, action };
  }
  if (error instanceof NotOfferedError) return { message: notOfferedMessage(error.feature), action: 'log' };
  if (error instanceof NotConnectedError) {
    return { message: l10n.t('Not connected. Run “Hosted Postgres: Connect…”.'), action: 'connect' };
  }
  if (error instanceof AccountSwitchedError) {
    const message = l10n.t('This window has switched to another account. Nothing was changed.');
    return { message, action: 'log' };
  }
  if (error instanceof ConnectionClosedError) {
    const message = l10n.t('The account or key of this window has changed in the meantime.');
    return {
      message: error.mayHaveExecuted
        ? l10n.t('{0} Check the current state in the list.', message)
        : l10n.t('{0} Nothing was changed.', message),
      action: 'log',
    };
  }
  if (error instanceof SqlError) return { message: text, action: 'retry' };
  const fault = faultOf(error);
  if (fault === undefined) return { message: text, action: 'log' };
  const { message, action } = messageOfFault(fault, text, retryTimeOf(error));
  // The change may have been made, so the user should check before trying again.
  if (!isOutcomeUnknown(error)) return { message, action };
  if (unknownOutcome !== undefined) return { message: `${asSentence(message)} ${unknownOutcome}`, action };
  return action === 'retry'
    ? { message: l10n.t('{0} Check the current state in the list.', asSentence(message)), action }
    : { message, action };
}

/** Ends a text of the service or of Postgres as a sentence, so that another sentence can follow. */
export const asSentence = (text: string): string => (/[.!?…][)”"']*$/.test(text) ? text : `${text}.`);

/** Whether the message offers an action that removes the cause, such as entering another key. */
export const offersFix = (error: unknown): boolean => !['retry', 'log'].includes(explainError(error).action);

/**
 * Runs work whose errors VS Code shows, such as reading the text of a document.
 * @throws {Error} with a message for the user
 */
export async function withExplainedErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(explainError(error).message, { cause: error });
  }
}

/** @param retryTime see `retryTimeOf` */
function messageOfFault(fault: ApiFault, message: string, retryTime: number | undefined): ErrorMessage {
  switch (fault.kind) {
    case 'rejected':
      return fault.code === POSTGRES_MISSING
        ? { message, action: 'postgres' }
        : messageOfRejection(fault, message, retryTime);
    case 'network':
      return { message: networkMessage(fault.code), action: 'retry' };
    case 'timeout':
      return { message: l10n.t('The service took too long to respond.'), action: 'retry' };
    case 'unexpectedReply':
      return { message: replyMessage(fault), action: fault.reason === 'html' ? 'retry' : 'log' };
    case 'cancelled':
      return { message: l10n.t('Canceled.'), action: 'retry' };
    case 'invalidRequest':
      return { message, action: 'log' };
    default:
      return fault satisfies never;
  }
}

const localServiceMessage = (reason: Exclude<LocalServiceFailure, 'noPostgres'>): string =>
  ({
    silent: l10n.t("The local service isn't responding. Start it again to replace the running process."),
    otherKey: l10n.t(
      'The local service was started with another key. Start it again to replace the running process.',
    ),
    ended: l10n.t('The local service ended unexpectedly.'),
    revokedKey: l10n.t('The key of the local service was revoked.'),
  })[reason];

const notOfferedMessage = (feature: OptionalFeature): string =>
  ({
    startAndSuspend: l10n.t(
      "This service can't start or suspend computes on request, or this API key doesn't allow it. They start when a client connects, and suspend after inactivity.",
    ),
    projects: l10n.t("This service doesn't support changing projects, or this API key doesn't allow it."),
    passwords: l10n.t("This service doesn't support resetting passwords, or this API key doesn't allow it."),
    snapshots: l10n.t("This service doesn't support snapshots, or this API key doesn't allow them."),
    restoring: l10n.t(
      "This service can't restore branches to an earlier time, or this API key doesn't allow it. Nothing was changed.",
    ),
    schemas: l10n.t("This service doesn't show schemas, or this API key doesn't allow it."),
  })[feature];

function messageOfRejection(
  { status, isSilent = false }: Extract<ApiFault, { kind: 'rejected' }>,
  text: string,
  retryTime: number | undefined,
): ErrorMessage {
  if (status === 401) return { message: l10n.t("The service doesn't accept the API key."), action: 'newKey' };
  if (status === 423) {
    return {
      message: l10n.t('Another operation is still running on the project. Nothing was changed.'),
      action: 'retry',
    };
  }
  const message = isSilent ? statusMessage(status) : text;
  if (status === 400 && message.includes('org_id')) return { message, action: 'organization' };
  if (status !== 408 && status !== 429 && status < 500) return { message, action: 'log' };
  const when = retryText(status, retryTime);
  return { message: when === undefined ? message : `${asSentence(message)} ${when}`, action: 'retry' };
}

/** Returns the message for a reply with nothing but a status, which is in the log. */
export function statusMessage(status: number): string {
  if (status === 429) return l10n.t('The service received too many requests.');
  if (status === 408 || status >= 500) return l10n.t("The service isn't available at the moment.");
  if (status === 403) return l10n.t("This API key doesn't allow it.");
  if (status === 404) return l10n.t("The service didn't find it, or this API key has no access to it.");
  return l10n.t('The service rejected the request.');
}

/**
 * Says when to try again: as a time of day if it is known, because a number of minutes would soon be wrong in a message that
 * stays on the screen.
 */
function retryText(status: number, retryTime: number | undefined): string | undefined {
  if (retryTime !== undefined)
    return l10n.t('Try again after {0}.', clockText(Math.ceil(retryTime / 60_000) * 60_000));
  return status === 429 ? l10n.t('Try again in a few minutes.') : undefined;
}

export const isUnknownAddress = (code: string | undefined): boolean =>
  code === 'ENOTFOUND' || code === 'EAI_AGAIN';

/** Returns the message for a failed connection, without the code, which is in the log. */
function networkMessage(code: string | undefined): string {
  if (isUnknownAddress(code)) return l10n.t("Couldn't find the address of the service. Are you offline?");
  if (code === 'ECONNREFUSED') return l10n.t('Nothing is listening at the address of the service.');
  return isCertificateCode(code)
    ? l10n.t("The certificate of the service isn't trusted.")
    : l10n.t('The connection to the service failed.');
}

function replyMessage({ reason, detail }: Extract<ApiFault, { kind: 'unexpectedReply' }>): string {
  const shown = sanitize(detail ?? '?');
  return {
    html: l10n.t(
      'A web page came instead of a response from the service. A proxy or your network may require you to sign in.',
    ),
    json: l10n.t("The response of the service was cut off or isn't JSON."),
    shape: l10n.t('The response of the service has no valid “{0}”.', shown),
    tooLarge: l10n.t('The response of the service is too large.'),
    redirect: l10n.t('The service redirected to {0}. Your key was not sent there.', shown),
    host: l10n.t('The service returned a connection string for another host ({0}).', shown),
  }[reason];
}
