/** How esbuild bundles the MCP program: for `dist/`, and in tests. What it needs only without a window is a chunk. */
export const mcpOptions = {
  entryPoints: { mcp: 'src/mcp/main.ts' },
  splitting: true,
  alias: { '@modelcontextprotocol/server/_shims': './src/mcp/sdkShims.ts' },
};
