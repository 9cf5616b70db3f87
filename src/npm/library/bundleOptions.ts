/** How esbuild bundles `hosted-postgres/test`. The bundle is CommonJS, which Jest needs, and in which `import` also finds the names. */
const REPLACED =
  'setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, queueMicrotask, Date, performance, fetch';

export const testBundleOptions = {
  format: 'cjs',
  // Tests may replace these functions, such as by fake timers, so the library takes them when it is loaded.
  banner: {
    js: `const { ${REPLACED} } = globalThis;`,
  },
  define: { 'import.meta.dirname': '__dirname' },
  entryPoints: { test: 'src/npm/library/index.ts', 'test-setup': 'src/npm/library/setup.ts' },
  outExtension: { '.js': '.cjs' },
} as const;
