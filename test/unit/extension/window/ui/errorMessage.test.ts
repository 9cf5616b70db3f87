import { answers, executed, questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { BaseUrl } from '../../../../../src/api/transport/baseUrl.ts';
import { ApiError, type ApiFault } from '../../../../../src/api/transport/errors.ts';
import {
  ConnectionClosedError,
  NotConnectedError,
  ProtectionLostError,
} from '../../../../../src/extension/window/changeErrors.ts';

const { asSentence, explainError } = await import('../../../../../src/extension/window/ui/errorMessage.ts');
const { showFailure } = await import('../../../../../src/extension/account/ui/notify.ts');
const { viewStateOfFailure } = await import('../../../../../src/extension/inventory/ui/updateContextKeys.ts');

const rejected = (status: number): ApiFault => ({
  kind: 'rejected',
  status,
  code: undefined,
  requestId: undefined,
  retryAfter: undefined,
});
const silent = (status: number): ApiFault => ({ ...rejected(status), isSilent: true }) as ApiFault;
const network = (code: string): ApiFault => ({ kind: 'network', code });
const unexpected = (reason: 'html' | 'json' | 'shape' | 'tooLarge' | 'redirect'): ApiFault => ({
  kind: 'unexpectedReply',
  status: 200,
  reason,
  detail: 'x',
});

describe('explainError', () => {
  const rows: readonly (readonly [
    what: string,
    fault: ApiFault,
    message: RegExp,
    action: string,
    state?: string,
  ])[] = [
    ['a rejected key', rejected(401), /doesn't accept the API key/, 'newKey', 'failedKey'],
    ['another operation', rejected(423), /Another operation/, 'retry'],
    ['too many requests', rejected(429), /service says/, 'retry'],
    ['a violated rule', rejected(422), /service says/, 'log'],
    ['a service that is down', rejected(503), /service says/, 'retry'],
    ['no network', network('ENOTFOUND'), /offline/, 'retry', 'failedAddress'],
    ['a closed port', network('ECONNREFUSED'), /Nothing is listening/, 'retry', 'failedUnreachable'],
    ['an invalid certificate', network('CERT_HAS_EXPIRED'), /certificate/, 'retry', 'failedCertificate'],
    [
      'a reset',
      network('ECONNRESET'),
      /^The connection to the service failed\.$/,
      'retry',
      'failedUnreachable',
    ],
    [
      'a closed socket',
      network('UND_ERR_SOCKET'),
      /^The connection to the service failed\.$/,
      'retry',
      'failedUnreachable',
    ],
    [
      'a slow network',
      network('ETIMEDOUT'),
      /^The connection to the service failed\.$/,
      'retry',
      'failedUnreachable',
    ],
    ['a gateway without a message', silent(502), /^The service isn't available at the moment\.$/, 'retry'],
    ['a rejection without a message', silent(422), /^The service rejected the request\.$/, 'log'],
    ['a missing permission without a message', silent(403), /^This API key doesn't allow it\.$/, 'log'],
    [
      'a missing resource without a message',
      silent(404),
      /^The service didn't find it, or this API key has no access to it\.$/,
      'log',
    ],
    [
      'too many requests without a message',
      silent(429),
      /^The service received too many requests\. Try again in a few minutes\.$/,
      'retry',
    ],
    ['silence', { kind: 'timeout' }, /too long/, 'retry', 'failedUnreachable'],
    ['a captive portal', unexpected('html'), /web page/, 'retry', 'failedWebPage'],
    ['cut JSON', unexpected('json'), /isn't JSON/, 'log'],
    ['a wrong shape', unexpected('shape'), /no valid/, 'log'],
    ['an endless response', unexpected('tooLarge'), /too large/, 'log'],
    ['a redirect', unexpected('redirect'), /not sent there/, 'log'],
  ];
  it('offers to connect a window without an account', () => {
    assert.equal(explainError(new NotConnectedError()).action, 'connect');
  });

  it('says after the end of a connection whether the change may have been made', () => {
    const [sent, unsent] = [new ConnectionClosedError(true), new ConnectionClosedError(false)];
    const reason = 'The account or key of this window has changed in the meantime.';
    assert.equal(explainError(sent).message, `${reason} Check the current state in the list.`);
    assert.equal(explainError(unsent).message, `${reason} Nothing was changed.`);
  });

  it('adds that a branch has lost its protection', () => {
    const error = new ProtectionLostError(
      new ApiError('Not now.', rejected(503), { mayHaveExecuted: false }),
    );
    const message = 'Not now. The branch is no longer protected.';
    assert.deepEqual(explainError(error), { message, action: 'retry' });
  });

  for (const [what, fault, message, action, state = 'failed'] of rows) {
    it(`explains ${what} and offers an action`, () => {
      const error = new ApiError('the service says', fault, { mayHaveExecuted: false });
      const explanation = explainError(error);
      assert.match(explanation.message, message);
      assert.equal(explanation.action, action);
      assert.equal(viewStateOfFailure(error), state);
    });
  }

  it('says when the service accepts requests again, always by the same clock', () => {
    const fault: ApiFault = { ...(rejected(429) as Extract<ApiFault, { kind: 'rejected' }>), retryAfter: 90 };
    const error = new ApiError('rate limited', fault);
    const { message } = explainError(error);
    // Just before midnight, it is tomorrow.
    assert.match(message, /^rate limited\. Try again after (?:\w+ \d+, \d+, )?\d+:\d\d:\d\d\s[AP]M\.$/);
    assert.equal(explainError(error).message, message);
  });

  it('ends a sentence before the next begins', () => {
    const unknown = new ApiError('no room', rejected(503), { mayHaveExecuted: true });
    assert.equal(explainError(unknown).message, 'no room. Check the current state in the list.');
    assert.equal(explainError(unknown, 'Look there.').message, 'no room. Look there.');
    const unprotected = new ProtectionLostError(new ApiError('no', rejected(409)));
    assert.equal(explainError(unprotected).message, 'no. The branch is no longer protected.');
    for (const text of ['Done.', 'Really?', 'Now!', 'Wait…', 'Say “no.”', '(So.)'])
      assert.equal(asSentence(text), text);
    assert.equal(asSentence('relation "x"'), 'relation "x".');
  });

  it('asks to check the state if the change may have been made', () => {
    const error = new ApiError('lost', { kind: 'timeout' }, { mayHaveExecuted: true });
    assert.match(explainError(error).message, /Check the current state/);
  });

  it('offers the setting when the service asks for an organization', () => {
    const error = new ApiError('org_id is required', rejected(400));
    assert.equal(explainError(error).action, 'organization');
    assert.equal(viewStateOfFailure(error), 'failedOrganization');
  });

  for (const [account, state, ...buttons] of [
    [{ baseUrl: 'https://console.neon.tech/api/v2' }, 'failedPublicKey', 'Enter New Key…', 'Get API Key'],
    [{ baseUrl: 'https://console.neon.tech.example/api/v2' }, 'failedKey', 'Enter New Key…'],
    [
      { baseUrl: 'http://127.0.0.1:8790/api/v2', local: true },
      'failedLocalServiceRevoked',
      'Start Local Service',
    ],
    [undefined, 'failedKey', 'Enter New Key…'],
  ] as const)
    it(`leads from a rejected key of ${account?.baseUrl} to another one`, async () => {
      const error = new ApiError('no', rejected(401));
      const known = account && { ...account, name: '', baseUrl: account.baseUrl as BaseUrl };
      assert.equal(viewStateOfFailure(error, known), state);
      for (const button of buttons) {
        executed.length = questions.length = 0;
        answers.push(button);
        await showFailure('Failed', error, () => undefined, { account: known });
        if (button === 'Get API Key') assert.deepEqual(questions.slice(1), ['Open the link?']);
        else assert.equal(executed.length, 1);
      }
    });

  it('sanitizes messages of the service', () => {
    const error = new ApiError('see [here](command:evil)\u0007', rejected(422));
    assert.equal(explainError(error).message, 'see [here] (command:evil)');
  });

  it('returns the message of any other error', () => {
    assert.deepEqual(explainError(new Error('odd')), { message: 'odd', action: 'log' });
    assert.deepEqual(explainError('text'), { message: 'text', action: 'log' });
  });
});
