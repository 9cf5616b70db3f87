/** How esbuild bundles the MCP program: for `dist/`, and in tests. */
export const mcpOptions = {
  entryPoints: { mcp: 'src/mcp/main.ts' },
  banner: {},
  alias: { '@modelcontextprotocol/server/_shims': './src/mcp/sdkShims.ts' },
};
