/** Requests per second of the local service beside a bare node:http server that answers the same bytes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startLocalService, type LocalService } from '../helpers/localService.ts';
import { account, computeId, projectId } from './account.ts';
import { answersPerSecond } from './load.ts';
import { startProgram } from './program.ts';
import { perSecond, type Result } from './result.ts';
import { median, medianRatio } from './stats.ts';

const COMPUTES = 16;
// Short ones: what other programs do to the disk meanwhile should hit both of a pair alike.
const ROUNDS = 16;
const ROUND_MS = 150;
const GOAL = 0.7;

interface Asked {
  readonly what: string;
  readonly method: 'GET' | 'PATCH';
  readonly path: (connection: number) => string;
  readonly body?: (count: number) => string;
}

const computes = `/projects/${projectId(0)}/endpoints`;
const reading: Asked = { what: 'GET computes', method: 'GET', path: () => computes };
const writing: Asked = {
  what: 'PATCH, fsynced',
  method: 'PATCH',
  path: (connection) => `${computes}/${computeId(0, connection)}`,
  body: (count) => JSON.stringify({ endpoint: { name: `name ${count % 10}` } }),
};

export async function measure(): Promise<readonly Result[]> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-bench-'));
  const projects = path.join(folder, 'projects.json');
  await writeFile(projects, JSON.stringify(account({ projects: 1, computesPerProject: COMPUTES })));
  const service = await startLocalService({ postgres: false, args: ['--projects', projects] });
  try {
    const results: Result[] = [];
    for (const asked of [reading, writing]) results.push(await compare(service, asked, folder));
    return results;
  } finally {
    await service.stop();
    await rm(folder, { recursive: true });
  }
}

async function compare(service: LocalService, asked: Asked, folder: string): Promise<Result> {
  const answer = path.join(folder, `${asked.method}.json`);
  await writeFile(answer, await answerOf(service, asked));
  const script = path.join(import.meta.dirname, 'bareServer.ts');
  const quiet = '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON';
  const bare = await startProgram(process.execPath, [quiet, script, answer, path.join(folder, 'state')]);
  try {
    const ports = { ours: Number(new URL(service.baseUrl).port), bare: Number(bare.line) };
    const [one, many] = [
      await rounds(ports, service.key, asked, 1),
      await rounds(ports, service.key, asked, COMPUTES),
    ];
    const ratio = medianRatio(many.ours, many.bare);
    return {
      what: asked.what,
      ours: perSecond(median(many.ours)),
      beside: `${perSecond(median(many.bare))} bare node:http`,
      ratio,
      goal: `≥ ${GOAL} ×`,
      met: ratio >= GOAL,
      note: `${COMPUTES} connections; with one: ${perSecond(median(one.ours))} beside ${perSecond(median(one.bare))}, ${medianRatio(one.ours, one.bare).toFixed(2)} ×`,
    };
  } finally {
    await bare.stop();
  }
}

async function answerOf({ baseUrl, key }: LocalService, asked: Asked): Promise<string> {
  const response = await fetch(`${baseUrl}${asked.path(0)}`, {
    method: asked.method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(asked.body === undefined ? {} : { body: asked.body(0) }),
  });
  if (response.status !== 200) throw new Error(`${asked.what}: ${response.status}`);
  return response.text();
}

/** Ours and the other by turns, each as often first; the first turn of each only warms up. */
async function rounds(
  ports: { readonly ours: number; readonly bare: number },
  key: string,
  asked: Asked,
  connections: number,
): Promise<{ readonly ours: number[]; readonly bare: number[] }> {
  const turn = (port: number) =>
    answersPerSecond({ port, connections, milliseconds: ROUND_MS, request: requestOf(asked, port, key) });
  const [ours, bare]: [number[], number[]] = [[], []];
  const turns = [
    async () => ours.push(await turn(ports.ours)),
    async () => bare.push(await turn(ports.bare)),
  ];
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const next of round % 2 === 0 ? turns : turns.toReversed()) await next();
  }
  return { ours: ours.slice(1), bare: bare.slice(1) };
}

const requestOf = (asked: Asked, port: number, key: string) => (connection: number, count: number) => {
  const body = asked.body?.(count) ?? '';
  const content = `content-type: application/json\r\ncontent-length: ${body.length}\r\n`;
  return (
    `${asked.method} /api/v2${asked.path(connection)} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n` +
    `authorization: Bearer ${key}\r\n${body === '' ? '' : content}\r\n${body}`
  );
};
