/** Runs a test with a client without retries and a service that replies as given. Records the requests. */
import { Client } from '../../../src/api/client.ts';
import { FaultProxy, type StubReply, type StubRequest } from '../../helpers/faultProxy.ts';

export const KEY = 'a-key-that-must-stay-secret';

export async function withService(
  reply: StubReply,
  run: (client: Client, seen: StubRequest[]) => Promise<void>,
) {
  const seen: StubRequest[] = [];
  const upstream: StubReply = (request) => {
    seen.push(request);
    return reply(request);
  };
  const { baseUrl } = await FaultProxy.start({ upstream });
  await run(new Client({ baseUrl, key: KEY, fetch: globalThis.fetch, retries: 0 }), seen);
}
