/** What went wrong in the user's words, and the one thing that helps. */
import { l10n } from 'vscode';
import { faultOf, isOutcomeUnknown, type Fault } from '../api/errors.ts';
import { isLocalServiceError, type LocalServiceError } from './localServiceError.ts';
import { plain } from './plain.ts';

/** The one action offered beside an explanation. */
export type Help = 'newKey' | 'retry' | 'log' | 'organization' | 'localService';

export interface Explanation {
  readonly words: string;
  readonly help: Help;
}

/** Explains any error; the service's own words are kept, made harmless. */
export function explain(error: unknown): Explanation {
  if (isLocalServiceError(error)) return { words: localServiceWords(error), help: 'localService' };
  const fault = faultOf(error);
  const message = plain(error instanceof Error ? error.message : String(error));
  if (fault === undefined) return { words: message, help: 'log' };
  const { words, help } = explainFault(fault, message);
  const isOpen = isOutcomeUnknown(error) && help === 'retry';
  // Whoever asked for a change must not be invited to make it twice without looking.
  return isOpen
    ? { words: l10n.t('{0} The list shows what holds now.', words), help: 'retry' }
    : { words, help };
}

function explainFault(fault: Fault, message: string): Explanation {
  switch (fault.kind) {
    case 'refused':
      return explainRefusal(fault.status, message);
    case 'network':
      return { words: networkWords(fault.code), help: 'retry' };
    case 'timeout':
      return { words: l10n.t('The service took too long to answer.'), help: 'retry' };
    case 'unexpectedReply':
      return { words: replyWords(fault), help: fault.reason === 'html' ? 'retry' : 'log' };
    case 'cancelled':
      return { words: l10n.t('Cancelled.'), help: 'retry' };
    case 'invalidRequest':
      return { words: message, help: 'log' };
    default:
      return fault satisfies never;
  }
}

const localServiceWords = ({ reason }: LocalServiceError): string =>
  reason === 'silent'
    ? l10n.t('The local service does not answer. Start it again to replace it.')
    : l10n.t('The local service has ended unexpectedly.');

function explainRefusal(status: number, message: string): Explanation {
  if (status === 401) return { words: l10n.t('The service does not accept the API key.'), help: 'newKey' };
  if (status === 423) {
    return {
      words: l10n.t('Another operation is still running on the project. Nothing was changed.'),
      help: 'retry',
    };
  }
  if (status === 400 && message.includes('org_id')) return { words: message, help: 'organization' };
  return { words: message, help: status === 408 || status === 429 || status >= 500 ? 'retry' : 'log' };
}

/** What stands between us and the service, for the welcome text that says so in full; empty for all else. */
export type Obstacle =
  'address' | 'certificate' | 'silence' | 'webPage' | 'localServiceSilent' | 'localServiceEnded' | '';

export function obstacleOf(error: unknown): Obstacle {
  if (isLocalServiceError(error))
    return error.reason === 'silent' ? 'localServiceSilent' : 'localServiceEnded';
  const fault = faultOf(error);
  if (fault?.kind === 'timeout') return 'silence';
  if (fault?.kind === 'unexpectedReply' && fault.reason === 'html') return 'webPage';
  if (fault?.kind !== 'network') return '';
  if (isUnknownAddress(fault.code)) return 'address';
  return isCertificate(fault.code) ? 'certificate' : 'silence';
}

const isUnknownAddress = (code: string | undefined): boolean => code === 'ENOTFOUND' || code === 'EAI_AGAIN';

const isCertificate = (code: string | undefined): boolean =>
  /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code ?? '');

function networkWords(code: string | undefined): string {
  if (code === undefined) return l10n.t('The service cannot be reached.');
  if (isUnknownAddress(code))
    return l10n.t('The address of the service cannot be found. Is this machine offline?');
  if (code === 'ECONNREFUSED') return l10n.t('Nothing answers at the address of the service.');
  return isCertificate(code)
    ? l10n.t('The certificate of the service is not trusted ({0}).', code)
    : l10n.t('The service cannot be reached ({0}).', code);
}

function replyWords(fault: Extract<Fault, { kind: 'unexpectedReply' }>): string {
  switch (fault.reason) {
    case 'html':
      return l10n.t(
        'A web page answered in place of the service: a proxy or a network that wants you to sign in?',
      );
    case 'json':
      return l10n.t('The answer of the service was cut off or is not JSON.');
    case 'shape':
      return l10n.t('The service answered without a usable “{0}”.', plain(fault.detail ?? '?'));
    case 'tooLarge':
      return l10n.t('The answer of the service is too large.');
    case 'redirect':
      return l10n.t(
        'The service sends elsewhere ({0}); the key was not sent there.',
        plain(fault.detail ?? '?'),
      );
    default:
      return fault.reason satisfies never;
  }
}
