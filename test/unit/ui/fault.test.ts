import '../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { ApiError, type Fault } from '../../../src/api/errors.ts';

const { LocalServiceError } = await import('../../../src/ui/localServiceError.ts');
const { explain, obstacleOf } = await import('../../../src/ui/fault.ts');

const refused = (status: number): Fault => ({
  kind: 'refused',
  status,
  code: undefined,
  requestId: undefined,
  retryAfter: undefined,
});
const unexpected = (reason: 'html' | 'json' | 'shape' | 'tooLarge' | 'redirect'): Fault => ({
  kind: 'unexpectedReply',
  status: 200,
  reason,
  detail: 'x',
});

describe('explain', () => {
  for (const [reason, words, obstacle] of [
    ['silent', /does not answer/, 'localServiceSilent'],
    ['ended', /has ended/, 'localServiceEnded'],
  ] as const) {
    it(`offers to start a local service that is ${reason}`, () => {
      const error = new LocalServiceError(reason, 'details for the log');
      assert.match(explain(error).words, words);
      assert.equal(explain(error).help, 'localService');
      assert.equal(obstacleOf(error), obstacle);
    });
  }

  const rows: readonly (readonly [
    what: string,
    fault: Fault,
    words: RegExp,
    help: string,
    obstacle?: string,
  ])[] = [
    ['a key that is not accepted', refused(401), /does not accept the API key/, 'newKey'],
    ['another operation', refused(423), /Another operation/, 'retry'],
    ['too many requests', refused(429), /service says/, 'retry'],
    ['a broken rule', refused(422), /service says/, 'log'],
    ['a service that is down', refused(503), /service says/, 'retry'],
    ['no network', { kind: 'network', code: 'ENOTFOUND' }, /offline/, 'retry', 'address'],
    ['a closed port', { kind: 'network', code: 'ECONNREFUSED' }, /Nothing answers/, 'retry', 'silence'],
    [
      'a wrong certificate',
      { kind: 'network', code: 'CERT_HAS_EXPIRED' },
      /certificate/,
      'retry',
      'certificate',
    ],
    ['a reset', { kind: 'network', code: 'ECONNRESET' }, /ECONNRESET/, 'retry', 'silence'],
    ['silence', { kind: 'timeout', phase: 'headers' }, /too long/, 'retry', 'silence'],
    ['a captive portal', unexpected('html'), /web page/, 'retry', 'webPage'],
    ['cut JSON', unexpected('json'), /not JSON/, 'log'],
    ['a wrong shape', unexpected('shape'), /usable/, 'log'],
    ['a flood', unexpected('tooLarge'), /too large/, 'log'],
    ['a redirect', unexpected('redirect'), /not sent there/, 'log'],
  ];
  for (const [what, fault, words, help, obstacle = ''] of rows) {
    it(`tells of ${what} and what helps`, () => {
      const error = new ApiError('the service says', fault, { arrived: false });
      const explanation = explain(error);
      assert.match(explanation.words, words);
      assert.equal(explanation.help, help);
      assert.equal(obstacleOf(error), obstacle);
    });
  }

  it('does not invite to repeat blindly what may have been done', () => {
    const error = new ApiError('lost', { kind: 'timeout', phase: 'body' }, { arrived: true });
    assert.match(explain(error).words, /list shows/);
  });

  it('offers the setting when the service asks for an organization', () => {
    const error = new ApiError('org_id is required', refused(400));
    assert.equal(explain(error).help, 'organization');
  });

  it('makes the words of the service harmless', () => {
    const error = new ApiError('see [here](command:evil)\u0007', refused(422));
    assert.equal(explain(error).words, 'see [here] (command:evil)');
  });

  it('explains what is not of the service too', () => {
    assert.deepEqual(explain(new Error('odd')), { words: 'odd', help: 'log' });
    assert.deepEqual(explain('text'), { words: 'text', help: 'log' });
  });
});
