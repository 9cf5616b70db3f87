/** How esbuild bundles `hosted-postgres/test`. The bundle is CommonJS, which Jest needs, and in which `import` also finds the names. */
const REPLACED =
  'setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, queueMicrotask, Date, performance, fetch';

export const testBundleOptions = {
  format: 'cjs',
  // Tests may replace these functions, such as by fake timers, so the library takes them when it is loaded. It takes them from Node's
  // main context, because Jest runs tests in one of its own, where `fakeTimers.enableGlobally` has replaced them by then.
  banner: {
    js: `const { ${REPLACED}, process: { nextTick } } = process.getBuiltinModule('node:vm').runInThisContext('globalThis');`,
  },
  define: { 'import.meta.dirname': '__dirname', 'process.nextTick': 'nextTick' },
  entryPoints: { test: 'src/npm/library/index.ts', 'test-setup': 'src/npm/library/setup.ts' },
  outExtension: { '.js': '.cjs' },
} as const;
