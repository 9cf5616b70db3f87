/** The newest SDK's list of calls, against the local service. */
import assert from 'node:assert/strict';
import * as sdk from '@neon/sdk/raw';
import { NOT_SERVED } from '../../contract/notServed.ts';
import { atEndOfTest } from '../../helpers/atEndOfTest.ts';
import { call } from '../../helpers/call.ts';
import { startLocalService } from '../../helpers/localService.ts';

/** Such as `GET /projects/{project_id}`, of all functions that send a request. */
async function sdkCalls(): Promise<string[]> {
  const calls: string[] = [];
  const client = new Proxy(
    {},
    {
      get: (_, method) => async (options: { readonly url: string }) => {
        calls.push(`${String(method).toUpperCase()} ${options.url}`);
        return {};
      },
    },
  );
  const { createClient: _a, createConfig: _b, ...operations } = sdk;
  for (const operation of Object.values(operations))
    if (typeof operation === 'function')
      // Only the address is of interest.
      await Promise.resolve(Reflect.apply(operation, undefined, [{ client, path: {}, body: {} }])).catch(
        () => undefined,
      );
  return calls;
}

describe("The calls of the public service's SDK", () => {
  it('are served, or listed with the reason why not', async () => {
    const calls = await sdkCalls();
    assert.ok(calls.length > 150, `${calls.length} calls`);
    const service = await startLocalService({ postgres: false });
    atEndOfTest(() => service.stop());
    const missing: string[] = [];
    for (const each of calls) {
      const [method = '', template = ''] = each.split(' ');
      const path = template.replaceAll(/\{\w+\}/g, 'none');
      const { status, text } = await call(service.baseUrl, { method, path, key: service.key });
      if (status === 405 || /not available in the local service/.test(text)) missing.push(each);
    }
    const isListed = (each: string): boolean => NOT_SERVED.some(({ call: listed }) => listed.test(each));
    assert.deepEqual(
      missing.filter((each) => !isListed(each)),
      [],
      'missing and not listed',
    );
    assert.deepEqual(
      calls.filter((each) => isListed(each) && !missing.includes(each)),
      [],
      'listed but served',
    );
    const unused = NOT_SERVED.filter(({ call: listed }) => !missing.some((each) => listed.test(each)));
    assert.deepEqual(unused, []);
  });
});
