/** How many bytes a Node process uses, without garbage. */
import { text } from 'node:stream/consumers';
import { getHeapSnapshot } from 'node:v8';

/** Milliseconds. Twice the interval in which fetch checks its timers, which hold on to finished requests. */
const FETCH_TIMERS = 1_000;

/** Returns the bytes that this process uses after garbage collection. Finalizers need separate turns. */
export async function settledBytes(): Promise<number> {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('Node must be started with --expose-gc');
  await new Promise((resolve) => setTimeout(resolve, FETCH_TIMERS));
  for (let turn = 0; turn < 6; turn += 1) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return reachableBytes(await text(getHeapSnapshot()));
}

/** V8's internal nodes: compiled code and statistics that grow and shrink by hundreds of kilobytes at any time. */
const INTERNAL: ReadonlySet<string> = new Set(['code', 'hidden', 'synthetic']);

interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[], ...unknown[]];
    };
  };
  readonly nodes: readonly number[];
}

/** Returns the bytes of all reachable values of a heap snapshot, including buffers outside the heap. */
export function reachableBytes(json: string): number {
  const { snapshot, nodes }: Snapshot = JSON.parse(json);
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, size] = [fields.indexOf('type'), fields.indexOf('self_size')];
  let bytes = 0;
  for (let node = 0; node < nodes.length; node += fields.length) {
    const kind = types[0][nodes[node + type] ?? -1];
    if (kind === undefined) throw new Error('A node of the heap snapshot has no type');
    if (!INTERNAL.has(kind)) bytes += nodes[node + size] ?? 0;
  }
  return bytes;
}
