/** Requests per second of the local service, compared with a bare node:http server that sends the same replies. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startLocalService, type LocalService } from '../helpers/localService.ts';
import { repliesPerSecond } from './httpLoad.ts';
import { startProgram } from './program.ts';
import { perSecond, type Result } from './result.ts';
import { computeId, projectId, projectsFile } from './sampleAccount.ts';
import { median, medianRatio } from './stats.ts';

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
  const folder = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-bench-'));
  const projects = path.join(folder, 'projects.json');
  await writeFile(projects, projectsFile({ projects: 1, computesPerProject: COMPUTES }));
  const service = await startLocalService({ postgres: false, args: ['--projects', projects] });
  try {
    const results: Result[] = [];
    for (const kind of [read, update]) results.push(await compare(service, kind, folder));
    return results;
  } finally {
    await service.stop();
    await rm(folder, { recursive: true });
  }
}

async function compare(service: LocalService, kind: RequestKind, folder: string): Promise<Result> {
  const reply = path.join(folder, `${kind.method}.json`);
  await writeFile(reply, await replyOf(service, kind));
  const script = path.join(import.meta.dirname, 'bareHttpServer.ts');
  const bare = await startProgram(process.execPath, [script, reply, path.join(folder, 'state')]);
  try {
    const ports = { ours: Number(new URL(service.baseUrl).port), bare: Number(bare.line) };
    const [one, many] = [
      await rounds(ports, service.key, kind, 1),
      await rounds(ports, service.key, kind, COMPUTES),
    ];
    const ratio = medianRatio(many.ours, many.bare);
    return {
      what: kind.what,
      ours: perSecond(median(many.ours)),
      baseline: `${perSecond(median(many.bare))} bare node:http`,
      ratio,
      goal: `≥ ${GOALS[kind.method]} ×`,
      met: ratio >= GOALS[kind.method],
      note: `${COMPUTES} connections; with one: ${perSecond(median(one.ours))} and ${perSecond(median(one.bare))}, ${medianRatio(one.ours, one.bare).toFixed(2)} ×`,
    };
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

/** Measures both servers alternately and swaps their order each time. The first round only warms up. */
async function rounds(
  ports: { readonly ours: number; readonly bare: number },
  key: string,
  kind: RequestKind,
  connections: number,
): Promise<{ readonly ours: number[]; readonly bare: number[] }> {
  const measureServer = (port: number) =>
    repliesPerSecond({ port, connections, milliseconds: ROUND_MS, request: requestOf(kind, port, key) });
  const [ours, bare]: [number[], number[]] = [[], []];
  const turns = [
    async () => ours.push(await measureServer(ports.ours)),
    async () => bare.push(await measureServer(ports.bare)),
  ];
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const next of round % 2 === 0 ? turns : turns.toReversed()) await next();
  }
  return { ours: ours.slice(1), bare: bare.slice(1) };
}

const requestOf = (kind: RequestKind, port: number, key: string) => (connection: number, count: number) => {
  const body = kind.body?.(count) ?? '';
  const content = `content-type: application/json\r\ncontent-length: ${body.length}\r\n`;
  return (
    `${kind.method} /api/v2${kind.path(connection)} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n` +
    `authorization: Bearer ${key}\r\n${body === '' ? '' : content}\r\n${body}`
  );
};
