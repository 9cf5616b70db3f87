// What may import what, types included. The order of the folders is the table in ARCHITECTURE.md.
import { readFileSync } from 'node:fs';

const architecture = readFileSync(new URL('docs/ARCHITECTURE.md', import.meta.url), 'utf8');
/** The folders of each row of the table. `src/{a,b}/ui` are two. */
const rows = [...architecture.matchAll(/^\| `(src[^`]*)`/gm)].map(([, row]) => {
  const [, parent, names, child] = /^(.*)\{(.*)\}(.*)$/.exec(row) ?? [];
  return names === undefined ? [row] : names.split(',').map((name) => parent + name + child);
});
const filesIn = (folders) => `^(${folders.flat().join('|')})/[^/]+$`;

/** A folder imports only from rows above it, so never from another folder in the same row. */
const upwards = rows.map((row, index) => ({
  name: `upwards from ${row.join(', ')}`,
  severity: 'error',
  from: { path: filesIn(row) },
  to: { path: filesIn(rows.slice(index)), pathNot: '^$1/[^/]+$' },
}));

/** What the order alone would allow. */
const apart = [
  ['the service knows nothing of windows', '^src/service/', '^src/(extension|mcp)/'],
  ['the service only proves what it is', '^src/service/', '^src/localService/(?!leaseProof)'],
  ['windows know nothing of the service', '^src/(extension|mcp)/', '^src/service/'],
  [
    'Postgres is behind the interface in core',
    '^src/service/postgres/',
    '^src/service/(state|controlPlane|http)/',
  ],
  [
    'requests and rules know no Postgres',
    '^src/service/(state|controlPlane|http)/',
    '^src/service/postgres/',
  ],
  ['the npm package needs no VS Code', '^src/npm/', '^src/(extension|mcp)/'],
  ['the status bar', '^src/(?!extension/app.ts)', '^src/extension/operations/ui/statusBar.ts$'],
  ['tests', '^src/', '^(test|scripts)/'],
].map(([name, from, to]) => ({ name, severity: 'error', from: { path: from }, to: { path: to } }));

export default {
  forbidden: [
    ...upwards,
    ...apart,
    {
      name: 'vscode only in ui/, commands/ and what puts all together',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: ['/(ui|commands|commandSupport|windowModel)/', '^src/extension/[^/]+$'],
      },
      to: { path: '(^|/)vscode(/|$)' },
    },
    { name: 'circle', severity: 'error', from: {}, to: { circular: true } },
    ...[
      { from: { path: '^src/', pathNot: [filesIn(rows), '[.]d[.]ts$'] }, to: {} },
      { from: {}, to: { path: '^src/', pathNot: filesIn(rows) } },
    ].map((rule) => ({ name: 'a folder that is not in the table', severity: 'error', ...rule })),
  ],
  options: {
    // TypeScript 7 has no parser for other programs.
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
  },
};
