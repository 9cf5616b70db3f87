/** How esbuild bundles the MCP program: for `dist/`, and in tests. What the program needs only without a window is a separate chunk. */
export const mcpOptions = {
  entryPoints: { mcp: 'src/mcp/main.ts' },
  splitting: true,
  alias: { '@modelcontextprotocol/server/_shims': './src/mcp/sdkShims.ts' },
};
