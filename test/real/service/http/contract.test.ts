import assert from 'node:assert/strict';
import { violationsIn } from '../../../contract/check.ts';
import { allCalls, findOperation } from '../../../contract/document.ts';
import type { Exchange } from '../../../contract/recorder.ts';
import { takeExchanges } from '../../../contract/recordings.ts';
import { call } from '../../../helpers/call.ts';
import { startLocalService } from '../../../helpers/localService.ts';
import { MAIN, PROJECT } from '../controlPlane/sampleProject.ts';
import { useQuietService } from '../useQuietService.ts';

const exchange = (method: string, path: string, status: number, body: unknown): Exchange => ({
  method,
  target: `/api/v2${path}`,
  isClient: true,
  requestBody: '',
  status,
  body: body === undefined ? '' : JSON.stringify(body),
});
const violations = (...[method, path, status, body]: Parameters<typeof exchange>) =>
  violationsIn(exchange(method, path, status, body));

const AUTH = { account_id: 'a', auth_method: 'api_key_user' };
const ERROR = { code: 'NOT_FOUND', message: 'There is nothing.' };
const COMPUTE = '/projects/p/endpoints/ep-1';

describe('The check against the document', () => {
  it('accepts what the document describes', () => {
    assert.deepEqual(violations('GET', '/auth', 200, AUTH), []);
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
    assert.deepEqual(violationsIn(provoked), []);
  });
});

it('The check sees what a service in a process of its own replies, also as `nobody`', async () => {
  const service = await startLocalService({ postgres: false });
  await call(service.baseUrl, { path: '/nothing', key: service.key });
  const targets = takeExchanges().map(({ target }) => target);
  await service.stop();
  assert.deepEqual(targets, ['/api/v2/nothing']);
});

/** Destructive calls last, and those of parts before those of the whole. */
const order = ([method, path]: readonly [method: string, path: string]): number =>
  (method === 'DELETE' ? 1_000 : 0) - path.length;

describe('Every call of the document', () => {
  const service = useQuietService();
  const calls = allCalls().toSorted((a, b) => order(a) - order(b));
  const sample: Record<string, string> = {
    project_id: PROJECT,
    branch_id: MAIN,
    endpoint_id: 'ep-little-smoke-851426',
    key_id: '1',
    database_name: 'app',
    role_name: 'app_owner',
  };

  /** @param values the values of the parameters, by name; all others are `x` */
  async function send(method: string, template: string, values = sample, withKey = true) {
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? 'x');
    const operation = findOperation(method, path.split('/'));
    const query = (operation?.parameters ?? [])
      .filter((each) => each.in === 'query' && each.required)
      .map(({ name }) => `${name}=${values[name] ?? 'x'}`);
    const { baseUrl, key } = service();
    return call(baseUrl, {
      method,
      path: `${path}?${query.join('&')}`,
      body: operation?.requestBody && {},
      key: withKey ? key : undefined,
    });
  }

  it('is an error without a key', async () => {
    for (const [method, path] of calls)
      assert.equal((await send(method, path, sample, false)).status, 401, `${method} ${path}`);
  });

  it('is an error for an unknown project', async () => {
    for (const [method, path] of calls.filter(([, path]) => path.startsWith('/projects/{')))
      assert.match(String((await send(method, path, {})).status), /^40[045]$/, `${method} ${path}`);
  });

  it('has a reply as documented, or is not offered', async () => {
    const offered: string[] = [];
    for (const [method, path] of calls) {
      const { status } = await send(method, path);
      assert(status < 500, `${method} ${path}: ${status}`);
      if (status < 400) offered.push(`${method} ${path}`);
    }
    assert(offered.includes('GET /projects') && offered.length > 10, offered.join(', '));
  });
});
