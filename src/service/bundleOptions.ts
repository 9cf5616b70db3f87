/** The oldest version of Node that has all that the bundles use. The newest of that is `process.getBuiltinModule`. */
export const OLDEST_NODE = '22.3';
const [MAJOR, MINOR] = OLDEST_NODE.split('.');

/** How esbuild bundles programs for Node: the local service in `dist/`, for `npm run service`, and in tests. */
export const bundleOptions = {
  bundle: true,
  platform: 'node',
  target: `node${OLDEST_NODE}`,
  format: 'esm',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
  // `pg` is CommonJS and requires modules of Node.
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
} as const;

/**
 * The beginning of bundles that users run with their own Node. If that Node is too old, the program ends with a message. npm only
 * warns.
 */
export const programBanner = {
  js: `${bundleOptions.banner.js}
{
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < ${MAJOR} || (major === ${MAJOR} && minor < ${MINOR})) {
    console.error("Hosted Postgres needs Node ${OLDEST_NODE} or newer, and this is Node " + process.versions.node + ".");
    process.exit(1);
  }
}`,
};
