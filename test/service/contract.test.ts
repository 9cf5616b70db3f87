import assert from 'node:assert/strict';
import { checkExchange } from '../contract/check.ts';
import type { Exchange } from '../contract/recorder.ts';

const exchange = (method: string, path: string, status: number, body: unknown): Exchange => ({
  method,
  target: `/api/v2${path}`,
  isClient: true,
  requestBody: '',
  status,
  body: body === undefined ? '' : JSON.stringify(body),
});
const violations = (...[method, path, status, body]: Parameters<typeof exchange>) =>
  checkExchange(exchange(method, path, status, body)).violations;

const AUTH = { account_id: 'a', auth_method: 'api_key_user' };
const ERROR = { code: 'NOT_FOUND', message: 'There is nothing.' };
const COMPUTE = '/projects/p/endpoints/ep-1';

describe('checkExchange', () => {
  it('accepts what the document describes', () => {
    assert.deepEqual(checkExchange(exchange('GET', '/auth', 200, AUTH)), {
      requests: 1,
      replies: 1,
      violations: [],
    });
    assert.deepEqual(violations('DELETE', COMPUTE, 204, undefined), []);
    assert.deepEqual(violations('GET', '/projects/p', 404, ERROR), []);
    assert.deepEqual(violations('PUT', '/nothing', 405, ERROR).length, 1, 'a client has no such call');
  });

  const wrong: readonly (readonly [what: string, Parameters<typeof exchange>, problem: RegExp])[] = [
    ['a missing field', ['GET', '/auth', 200, { account_id: 'a' }], /must have required property/],
    ['an unknown field', ['GET', '/auth', 200, { ...AUTH, more: 1 }], /unknown field \/more/],
    ['another status', ['GET', '/auth', 201, AUTH], /no such reply/],
    ['an error without a code', ['GET', '/auth', 500, { message: 'x' }], /property 'code'/],
    ['a body after 204', ['DELETE', COMPUTE, 204, {}], /has a body/],
    ['text', ['GET', '/auth', 200, undefined], /not JSON/],
    ['an unknown path', ['GET', '/nothing', 200, {}], /no such reply/],
    ['an unknown parameter', ['GET', '/auth?x=1', 200, AUTH], /no parameter x/],
    ['a wrong parameter', ['GET', '/projects?limit=0', 401, ERROR], /parameter limit is not valid/],
    ['a missing parameter', ['GET', '/projects/p/connection_uri', 404, ERROR], /role_name is missing/],
    ['a missing body', ['POST', '/api_keys', 401, ERROR], /no body/],
  ];
  for (const [what, parameters, problem] of wrong) {
    it(`reports ${what}`, () => assert.match(violations(...parameters).join('\n'), problem));
  }

  it('does not check a request with which a test provokes an error', () => {
    const provoked = { ...exchange('GET', '/auth?x=1', 401, ERROR), isClient: false };
    assert.deepEqual(checkExchange(provoked), { requests: 0, replies: 1, violations: [] });
  });
});
