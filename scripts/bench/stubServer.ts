// An HTTP server with prepared replies, so that measurements show the client's time. stubService.ts forks it and sends
// it the states of computes.
//   node scripts/bench/stubServer.ts PROJECTS COMPUTES-PER-PROJECT
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  computeRecord,
  operationRecord,
  projectId,
  projectRecord,
  type ComputeState,
} from './sampleAccount.ts';

const PAGE = 400;
const [projects = 0, computesPerProject = 0] = process.argv.slice(2).map(Number);

const pages = Array.from({ length: Math.ceil(projects / PAGE) }, (_, page) => {
  const first = page * PAGE;
  const length = Math.min(PAGE, projects - first);
  const records = Array.from({ length }, (_each, index) => projectRecord(first + index));
  // The last page has a cursor too, like the public service's.
  return encode({ projects: records, pagination: { cursor: records.at(-1)?.id } });
});
const states = new Map<string, ComputeState>();
const computeLists = new Map<number, Buffer>();

function encode(json: unknown): Buffer {
  return Buffer.from(JSON.stringify(json));
}

const stateOf = (project: number, index: number): ComputeState =>
  states.get(`${project}/${index}`) ?? { current_state: 'idle' };

function computeList(project: number): Buffer {
  const prepared = computeLists.get(project);
  if (prepared !== undefined) return prepared;
  const endpoints = Array.from({ length: computesPerProject }, (_, index) =>
    computeRecord(project, index, stateOf(project, index)),
  );
  const list = encode({ endpoints });
  computeLists.set(project, list);
  return list;
}

function reply(url: URL): Buffer | undefined {
  const [, , , , id, kind, operation = ''] = url.pathname.split('/');
  if (id === undefined) {
    const cursor = url.searchParams.get('cursor');
    const last = cursor === null ? -1 : Number(cursor.replace('project-', ''));
    return pages[Math.floor((last + 1) / PAGE)] ?? encode({ projects: [] });
  }
  const project = Number(id.replace('project-', ''));
  if (projectId(project) !== id) return undefined;
  if (kind === 'endpoints') return computeList(project);
  // An operation has finished when its compute has no pending state.
  const index = Number(operation.slice(-6));
  const isFinished = stateOf(project, index).pending_state === undefined;
  return encode({
    operation: operationRecord(operation, project, index, isFinished ? 'finished' : 'running'),
  });
}

const server = http.createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
  const body = reply(new URL(request.url ?? '', 'http://127.0.0.1')) ?? encode({ message: 'not found' });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
});

process.on('message', (change: { project: number; index: number; state: ComputeState }) => {
  states.set(`${change.project}/${change.index}`, change.state);
  computeLists.delete(change.project);
  process.send?.('done');
});
process.on('disconnect', () => process.exit());
// Prepare all lists before any measurement.
for (let project = 0; project < projects && computesPerProject > 0; project += 1) computeList(project);
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
