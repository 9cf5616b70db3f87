/** How esbuild bundles programs for Node: the local service in `dist/`, for `npm run service`, and in tests. */
export const bundleOptions = {
  bundle: true,
  platform: 'node',
  target: 'node22',
  format: 'esm',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
  // `pg` is CommonJS and requires modules of Node.
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
} as const;
