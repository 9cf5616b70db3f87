/** How esbuild bundles `hosted-postgres/test`. CommonJS, because Jest's modules are; `import` finds its names too. */
export const testBundleOptions = {
  bundle: true,
  platform: 'node',
  target: 'node22',
  format: 'cjs',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
  define: { 'import.meta.dirname': '__dirname' },
  entryPoints: { test: 'src/npm/test/index.ts', 'test-setup': 'src/npm/test/setup.ts' },
  outExtension: { '.js': '.cjs' },
} as const;
