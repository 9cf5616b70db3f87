import { forAgents, lm } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { ExtensionContext, McpServerDefinitionProvider } from 'vscode';

const { registerAgents } = await import('../../../../../src/extension/agents/ui/register.ts');

const packageJSON = {
  version: '1.2.3',
  contributes: { languageModelTools: [{ name: 'hostedPostgres_listComputes' }] },
};
const context = { extension: { packageJSON } } as unknown as ExtensionContext;
const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };

describe('What agents in the editor are offered', () => {
  const before = { ...lm };
  let hasAccount: boolean;

  beforeEach(() => {
    hasAccount = false;
    forAgents.clear();
  });
  afterEach(() => Object.assign(lm, before));

  const register = () =>
    registerAgents(context, () => assert.fail('The app was loaded'), {
      exists: () => hasAccount,
      onDidChange: () => ({ dispose() {} }),
    });

  it('has tools, and an MCP server while there is an account', async () => {
    const registered = register();
    assert.deepEqual([...forAgents.keys()], ['hostedPostgres', 'hostedPostgres_listComputes']);
    const provider = forAgents.get('hostedPostgres') as McpServerDefinitionProvider;
    assert.deepEqual(await provider.provideMcpServerDefinitions(token), []);
    hasAccount = true;
    const [server, ...others] = (await provider.provideMcpServerDefinitions(token)) ?? [];
    assert.deepEqual([server?.label, others], ['Hosted Postgres', []]);
    assert.equal(server && 'version' in server ? server.version : undefined, '1.2.3');
    registered.dispose();
    assert.equal(forAgents.size, 0);
  });

  it('is less in editors that lack parts of it', () => {
    delete lm.registerMcpServerDefinitionProvider;
    register();
    assert.deepEqual([...forAgents.keys()], ['hostedPostgres_listComputes']);
    delete lm.registerTool;
    forAgents.clear();
    register();
    assert.equal(forAgents.size, 0);
  });
});
