import { questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { CommandContext } from '../../../../../src/extension/commandSupport/context.ts';

const { env } = await import('vscode');
const { openConsole } = await import('../../../../../src/extension/browse/commands/computesView.ts');

describe('Open in Console', () => {
  const opened: string[] = [];
  const { openExternal } = env;
  before(() => {
    Object.assign(env, { openExternal: async (uri: unknown) => opened.push(String(uri)) });
  });
  after(() => Object.assign(env, { openExternal }));
  beforeEach(() => (opened.length = questions.length = 0));

  const open = async (baseUrl: string, row?: object) => {
    const session = { requireConnection: () => ({ account: { baseUrl } }) };
    const run = { failureMessage: '', initialConnection: undefined };
    await openConsole({ session } as unknown as CommandContext, row, run);
  };
  const neon = 'https://console.neon.tech/api/v2';

  it('opens the page of the row; that of a compute is its branch', async () => {
    const ids = { projectId: 'calm-1', branchId: 'br-1' };
    await open(neon, { kind: 'project', projectId: 'calm-1' });
    await open(neon, { kind: 'branch', ...ids });
    await open(neon, { kind: 'compute', ...ids, computeId: 'ep-1' });
    await open(neon);
    const project = 'https://console.neon.tech/app/projects/calm-1';
    const branch = `${project}/branches/br-1`;
    assert.deepEqual(opened, [project, branch, branch, 'https://console.neon.tech/app/projects']);
  });

  it('opens no page for another service', async () => {
    await assert.rejects(
      open('https://console.neon.tech.example/api/v2'),
      /address of this service's console isn't known/,
    );
    assert.deepEqual(opened, []);
  });
});
