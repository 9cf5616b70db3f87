/** Clients that send nonsense or guess passwords at a compute's own address. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { roundsOf } from '../../../../helpers/fullRun.ts';
import { randomNumbers } from '../../../../helpers/randomNumbers.ts';
import { RANDOM_SEED } from '../../../../helpers/seed.ts';
import { eventually, query } from '../clients.ts';
import { useBranch } from '../useBranch.ts';

describe("strangers at a compute's address", () => {
  const branch = useBranch({}, { withoutPgBouncer: true });

  const idle = async () => eventually(() => (branch.service.open.get(branch.compute.id) ?? 0) === 0);

  it(`survives random first packets and requests without a leak, and gives none access (seed ${RANDOM_SEED})`, async () => {
    const send = async (bytes: Buffer, refusal?: RegExp) => {
      const socket = net.connect(branch.compute.address.port, '127.0.0.1').on('error', () => {});
      let answer = '';
      socket.on('data', (chunk) => {
        answer += chunk.toString('latin1');
        if (refusal?.test(answer) === true) socket.destroy();
      });
      if (refusal === undefined) socket.end(bytes);
      else socket.write(bytes);
      await once(socket, 'close');
      assert.ok(!answer.startsWith('HTTP/1.1 200') && !answer.includes('R\0\0\0\b\0\0\0\0'));
      if (refusal !== undefined) assert.match(answer, refusal);
    };
    const random = randomNumbers();
    const below = (limit: number) => Math.floor(random() * limit);
    const randomBytes = (count: number) => Buffer.from(Array.from({ length: count }, () => below(256)));
    const noise = (limit: number) => randomBytes(below(limit));
    const join = (...parts: readonly (string | Buffer)[]) =>
      Buffer.concat(parts.map((part) => Buffer.from(part as string)));
    const post = 'POST /sql HTTP/1.1\r\nhost: x\r\nneon-connection-string: ';
    const upgrade = 'GET /v2 HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n';
    const upgraded = `${upgrade}sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;
    const guess = () => randomBytes(8).toString('hex');
    const withGuess = () => {
      const end = `content-length: 20\r\n\r\n{"query":"select 1"}`;
      return join(post, branch.uri.replace(/:[^:@/]*@/, `:${guess()}@`), `\r\n${end}`);
    };
    const onSocket = () => {
      const startup = join('\0\0\0\x25\0\x03\0\0user\0app_owner\0database\0app\0\0');
      const message = join(startup, `p\0\0\0\x15${guess()}\0`);
      return join(upgraded, Buffer.from([0x82, 0x80 + message.length, 0, 0, 0, 0]), message);
    };
    const requests: readonly (() => Promise<void>)[] = [
      async () => send(join(post, noise(60), '\r\n\r\n')),
      async () =>
        send(join(post, branch.uri, `\r\ncontent-length: ${below(60)}\r\n\r\n{"query":`, noise(60))),
      async () => send(join(upgrade, noise(60), '\r\n\r\n')),
      async () => send(join(upgraded, noise(200))),
    ];
    const request = async () => {
      if (random() < 0.9) return requests[below(requests.length)]?.();
      return send(random() < 0.5 ? withGuess() : onSocket(), /password authentication failed/);
    };
    const rounds = async (count: number, one: () => Promise<void>) => {
      for (let sent = 0; sent < count; sent += 50) await Promise.all(Array.from({ length: 50 }, one));
    };
    const all = async (share: number) => {
      await rounds(roundsOf(1000, 100_000) * share, async () => send(randomBytes(1 + below(40))));
      await rounds(roundsOf(500, 10_000) * share, async () => request());
      await idle();
      // One at a time, because a query's own connections count too.
      assert.deepEqual(await query(branch.uri, 'select 1'), [1]);
      await idle();
    };
    await all(0.2);
    const [sockets, memory] = [openSockets(), usedMemory()];
    await all(0.8);
    await eventually(() => openSockets() <= sockets);
    // Less than 150 bytes a connection in the full run.
    await eventually(() => usedMemory() - memory < 12 * 1024 * 1024);
  });
});

const openSockets = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;

/** The bytes of the heap and of buffers. */
function usedMemory(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
