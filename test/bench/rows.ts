/** What can be measured, by the name that `npm run bench -- NAME` takes. Each runs in a process of its own. */
import type { Result } from './result.ts';

export interface Row {
  readonly name: string;
  readonly load: () => Promise<{ readonly measure: () => Promise<readonly Result[]> }>;
  /** Seconds after which it is given up. */
  readonly limit: number;
}

export const rows: readonly Row[] = [
  { name: 'activation', load: () => import('./activation.ts'), limit: 120 },
  { name: 'size', load: () => import('./size.ts'), limit: 60 },
  { name: 'first-tree', load: () => import('./firstTree.ts'), limit: 60 },
  { name: 'big-account', load: () => import('./bigAccount.ts'), limit: 60 },
  { name: 'polling', load: () => import('./polling.ts'), limit: 60 },
  { name: 'memory', load: () => import('./memory.ts'), limit: 150 },
  { name: 'typing', load: () => import('./typing.ts'), limit: 60 },
  { name: 'service', load: () => import('./service.ts'), limit: 60 },
  { name: 'start', load: () => import('./startTime.ts'), limit: 120 },
  { name: 'commands', load: () => import('./commands.ts'), limit: 1800 },
  { name: 'wake-up', load: () => import('./wakeUp.ts'), limit: 150 },
  { name: 'gateway', load: () => import('./gateway.ts'), limit: 120 },
];
