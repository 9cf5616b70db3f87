/** How esbuild bundles `hosted-postgres/test`. CommonJS, because Jest's modules are; `import` finds its names too. */
export const testBundleOptions = {
  format: 'cjs',
  banner: {},
  define: { 'import.meta.dirname': '__dirname' },
  entryPoints: { test: 'src/npm/library/index.ts', 'test-setup': 'src/npm/library/setup.ts' },
  outExtension: { '.js': '.cjs' },
} as const;
