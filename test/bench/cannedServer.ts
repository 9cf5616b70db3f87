// A service that has its answers ready as bytes, so that what is measured is who asks. It is started with IPC and
// told what to answer: see canned.ts.
//   node test/bench/cannedServer.ts PROJECTS COMPUTES-PER-PROJECT
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { projectId } from './account.ts';
import { computeRecord, operationRecord, projectRecord, type ComputeState } from './cannedRecords.ts';

const PAGE = 400;
const [projects = 0, computesPerProject = 0] = process.argv.slice(2).map(Number);

const pages = Array.from({ length: Math.ceil(projects / PAGE) }, (_, page) => {
  const first = page * PAGE;
  const length = Math.min(PAGE, projects - first);
  const records = Array.from({ length }, (_each, index) => projectRecord(first + index));
  // As the public service does it, the last page has a cursor too.
  return bytes({ projects: records, pagination: { cursor: records.at(-1)?.id } });
});
const states = new Map<string, ComputeState>();
const lists = new Map<number, Buffer>();

function bytes(json: unknown): Buffer {
  return Buffer.from(JSON.stringify(json));
}

const stateOf = (project: number, index: number): ComputeState =>
  states.get(`${project}/${index}`) ?? { current_state: 'idle' };

function listOf(project: number): Buffer {
  const known = lists.get(project);
  if (known !== undefined) return known;
  const length = computesPerProject;
  const endpoints = Array.from({ length }, (_, index) =>
    computeRecord(project, index, stateOf(project, index)),
  );
  const made = bytes({ endpoints });
  lists.set(project, made);
  return made;
}

function answer(url: URL): Buffer | undefined {
  const [, , , , id, kind, operation = ''] = url.pathname.split('/');
  if (id === undefined) {
    const cursor = url.searchParams.get('cursor');
    const last = cursor === null ? -1 : Number(cursor.replace('project-', ''));
    return pages[Math.floor((last + 1) / PAGE)] ?? bytes({ projects: [] });
  }
  const project = Number(id.replace('project-', ''));
  if (projectId(project) !== id) return undefined;
  if (kind === 'endpoints') return listOf(project);
  // An operation is over when its compute has settled.
  const index = Number(operation.slice(-6));
  const isOver = stateOf(project, index).pending_state === undefined;
  return bytes({
    operation: operationRecord(operation, project, index, isOver ? 'finished' : 'running'),
  });
}

const server = http.createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
  const body = answer(new URL(request.url ?? '', 'http://127.0.0.1')) ?? bytes({ message: 'not found' });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
});

process.on('message', (change: { project: number; index: number; state: ComputeState }) => {
  states.set(`${change.project}/${change.index}`, change.state);
  lists.delete(change.project);
  process.send?.('done');
});
process.on('disconnect', () => process.exit());
// Made before anyone measures.
for (let project = 0; project < projects && computesPerProject > 0; project += 1) listOf(project);
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
