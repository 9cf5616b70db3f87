/** Requests per second of the local service, compared with a bare node:http server that sends the same replies. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { startLocalService, temporaryFolder, type LocalService } from '../../test/helpers/localService.ts';
import { startProgram } from './program.ts';
import { comparison, measureInTurns, median, medianRatio, perSecond, type Result } from './result.ts';
import { computeId, projectId, projectsFile } from './sampleAccount.ts';

const COMPUTES = 16;
// Rounds are short, so that other load on the disk affects both servers alike.
const ROUNDS = 16;
const ROUND_MS = 150;
/** A change writes the whole account, which no user notices: at 0.2 there are still over 2,000 changes a second. */
const GOALS = { GET: 0.6, PATCH: 0.2 };

interface RequestKind {
  readonly what: string;
  readonly method: 'GET' | 'PATCH';
  readonly path: (connection: number) => string;
  readonly body?: (count: number) => string;
}

const computes = `/projects/${projectId(0)}/endpoints`;
const read: RequestKind = { what: 'GET computes', method: 'GET', path: () => computes };
const update: RequestKind = {
  what: 'PATCH, fsynced',
  method: 'PATCH',
  path: (connection) => `${computes}/${computeId(0, connection)}`,
  body: (count) => JSON.stringify({ endpoint: { name: `name ${count % 10}` } }),
};

export async function measure(): Promise<readonly Result[]> {
  const folder = temporaryFolder();
  const projects = path.join(folder, 'projects.json');
  await writeFile(projects, projectsFile({ projects: 1, computesPerProject: COMPUTES }));
  const service = await startLocalService({ postgres: false, args: ['--projects', projects] });
  try {
    const results: Result[] = [];
    for (const kind of [read, update]) results.push(await compare(service, kind, folder));
    return results;
  } finally {
    await service.stop();
  }
}

async function compare(service: LocalService, kind: RequestKind, folder: string): Promise<Result> {
  const reply = path.join(folder, `${kind.method}.json`);
  await writeFile(reply, await replyOf(service, kind));
  const script = path.join(import.meta.dirname, 'bareHttpServer.ts');
  const bare = await startProgram(process.execPath, [script, reply, path.join(folder, 'state')]);
  try {
    const measureServer = (port: number, connections: number) => () =>
      repliesPerSecond({
        port,
        connections,
        milliseconds: ROUND_MS,
        request: requestOf(kind, port, service.key),
      });
    const rounds = (connections: number) =>
      measureInTurns(ROUNDS, 1, {
        ours: measureServer(Number(new URL(service.baseUrl).port), connections),
        baseline: measureServer(Number(bare.line), connections),
      });
    const [one, many] = [await rounds(1), await rounds(COMPUTES)];
    return comparison(many, {
      what: kind.what,
      unit: perSecond,
      baseline: 'bare node:http',
      goal: `≥ ${GOALS[kind.method]} ×`,
      met: medianRatio(many) >= GOALS[kind.method],
      note: `${COMPUTES} connections; with one: ${perSecond(median(one.ours))} and ${perSecond(median(one.baseline))}, ${medianRatio(one).toFixed(2)} ×`,
    });
  } finally {
    await bare.stop();
  }
}

async function replyOf({ baseUrl, key }: LocalService, kind: RequestKind): Promise<string> {
  const response = await fetch(`${baseUrl}${kind.path(0)}`, {
    method: kind.method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(kind.body === undefined ? {} : { body: kind.body(0) }),
  });
  if (response.status !== 200) throw new Error(`${kind.what}: ${response.status}`);
  return response.text();
}

const requestOf = (kind: RequestKind, port: number, key: string) => (connection: number, count: number) => {
  const body = kind.body?.(count) ?? '';
  const content = `content-type: application/json\r\ncontent-length: ${body.length}\r\n`;
  return (
    `${kind.method} /api/v2${kind.path(connection)} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n` +
    `authorization: Bearer ${key}\r\n${body === '' ? '' : content}\r\n${body}`
  );
};

/** Over raw sockets, so that the load itself takes little CPU time compared with the server. */
interface Load {
  readonly port: number;
  /** Returns the bytes of a connection's next request. */
  readonly request: (connection: number, count: number) => string;
  readonly connections: number;
  readonly milliseconds: number;
}

/**
 * Sends one request after the other on every connection.
 * @returns replies per second
 * @throws {Error} if a reply is not 200
 */
async function repliesPerSecond(load: Load): Promise<number> {
  const startedAt = performance.now();
  const endAt = startedAt + load.milliseconds;
  const counts = await Promise.all(
    Array.from({ length: load.connections }, (_, connection) => sendUntil(endAt, load, connection)),
  );
  return (counts.reduce((sum, count) => sum + count) * 1000) / (performance.now() - startedAt);
}

async function sendUntil(endAt: number, load: Load, connection: number): Promise<number> {
  const socket = net.connect({ port: load.port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const ended = Promise.withResolvers<number>();
  let count = 0;
  let received: Buffer = Buffer.alloc(0);
  const send = () => socket.write(load.request(connection, count));
  socket.on('error', ended.reject);
  socket.on('close', () => ended.reject(new Error('The server closed the connection')));
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const length = replyLength(received);
    if (length === undefined || received.length < length) return;
    received = Buffer.alloc(0);
    count += 1;
    if (performance.now() < endAt) send();
    else ended.resolve(count);
  });
  send();
  try {
    return await ended.promise;
  } finally {
    socket.destroy();
  }
}

/** Returns the bytes of head and body, or undefined if the head is incomplete. */
function replyLength(bytes: Buffer): number | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = bytes.toString('latin1', 0, end);
  if (!head.startsWith('HTTP/1.1 200')) throw new Error(bytes.toString());
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  if (length === undefined) throw new Error(`A reply without content-length: ${head}`);
  return end + 4 + Number(length);
}
