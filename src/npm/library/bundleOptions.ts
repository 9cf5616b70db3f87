/** How esbuild bundles `hosted-postgres/test`. It is CommonJS, because Jest loads modules as such, and `import` finds its names too. */
const REPLACED =
  'setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, queueMicrotask, Date, performance, fetch';

export const testBundleOptions = {
  format: 'cjs',
  // What tests replace, such as by fake timers, is taken when the library is loaded.
  banner: {
    js: `const { ${REPLACED} } = globalThis;`,
  },
  define: { 'import.meta.dirname': '__dirname' },
  entryPoints: { test: 'src/npm/library/index.ts', 'test-setup': 'src/npm/library/setup.ts' },
  outExtension: { '.js': '.cjs' },
} as const;
