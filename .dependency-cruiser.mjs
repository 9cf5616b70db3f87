// What may import what, types included. The order of the folders is the table at the end of ARCHITECTURE.md.
import { readFileSync } from 'node:fs';

const architecture = readFileSync(new URL('docs/ARCHITECTURE.md', import.meta.url), 'utf8');
/** The folders of each row of the table. `src/{a,b}` are two. */
const rows = [...architecture.matchAll(/^\| (`src.*`) +\|$/gm)].map(([, row]) =>
  [...row.matchAll(/`([^`]*)`/g)].flatMap(([, name]) => {
    const [, parent, names] = /^(.*)\{(.*)\}$/.exec(name) ?? [];
    return names === undefined ? [name] : names.split(',').map((each) => parent + each);
  }),
);
const folders = rows.flat();

/** An expression for the files of a folder and of those below it that have no row of their own. */
function filesOf(folder) {
  const below = folders.filter((other) => other.startsWith(`${folder}/`));
  const others = below.map((other) => `${other.slice(folder.length + 1)}/`);
  return `^${folder}/${others.length === 0 ? '' : `(?!${others.join('|')})`}`;
}

/** A folder imports only from rows above its own, so never from another folder in the same row. */
const upwards = rows.flatMap((row, index) =>
  row.map((folder) => ({
    name: `upwards from ${folder}`,
    severity: 'error',
    from: { path: filesOf(folder), pathNot: '^src/extension/commandSupport/context.ts$' },
    to: {
      path: rows
        .slice(index)
        .flat()
        .filter((other) => other !== folder)
        .map(filesOf),
    },
  })),
);

/** What the order alone would allow. */
const apart = [
  ['the service knows nothing of windows', '^src/service/', '^src/(extension|mcp)/'],
  [
    'the service shares its proof, its folder and its limits',
    '^src/service/',
    '^src/localService/(?!leaseProof|dataFolder|endLimits)',
  ],
  ['windows know nothing of the service', '^src/(extension|mcp)/', '^src/(service|npm)/'],
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
  [
    'plain code of a room without VS Code',
    '^src/(?!extension/[^/]+$|.*/(ui|commands|commandSupport)/)',
    '(^|/)(ui|commands|commandSupport|vscode)(/|$)',
  ],
  ['views without commands', '^src/.*/ui/', '/(commands|commandSupport)/'],
  ['tests', '^src/', '^(test|scripts)/'],
].map(([name, from, to]) => ({ name, severity: 'error', from: { path: from }, to: { path: to } }));

export default {
  forbidden: [
    ...upwards,
    ...apart,
    { name: 'circle', severity: 'error', from: {}, to: { circular: true } },
    ...[
      { from: { path: '^src/', pathNot: [...folders.map(filesOf), '[.]d[.]ts$'] }, to: {} },
      { from: {}, to: { path: '^src/', pathNot: folders.map(filesOf) } },
    ].map((rule) => ({ name: 'a folder that is not in the table', severity: 'error', ...rule })),
  ],
  options: {
    // TypeScript 7 has no parser for other programs.
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
  },
};
