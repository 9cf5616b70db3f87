import { text } from 'node:stream/consumers';
import { getHeapSnapshot } from 'node:v8';

/** What V8 keeps for itself: it compiles, counts and forgets when it likes, some hundred kilobytes up and down. */
const V8S_OWN: ReadonlySet<string> = new Set(['code', 'hidden', 'synthetic']);

interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[], ...unknown[]];
    };
  };
  readonly nodes: readonly number[];
}

/** Bytes of all values that can be reached, buffers outside the heap among them: what a leak would add to, and nothing else. */
export async function bytesKept(): Promise<number> {
  const { snapshot, nodes }: Snapshot = JSON.parse(await text(getHeapSnapshot()));
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, size] = [fields.indexOf('type'), fields.indexOf('self_size')];
  let bytes = 0;
  for (let node = 0; node < nodes.length; node += fields.length) {
    const kind = types[0][nodes[node + type] ?? -1];
    if (kind === undefined) throw new Error('A heap snapshot has a node of no type');
    if (!V8S_OWN.has(kind)) bytes += nodes[node + size] ?? 0;
  }
  return bytes;
}
