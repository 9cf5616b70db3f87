import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { CancellationToken, Position, TextDocument } from 'vscode';
import type { HostProviderDependencies } from '../../../../../src/extension/connection/ui/hostProvider.ts';
import { atEndOfTest } from '../../../../helpers/atEndOfTest.ts';
import { connectScripted } from '../../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../../helpers/scriptedService.ts';

const { HostProvider } = await import('../../../../../src/extension/connection/ui/hostProvider.ts');

describe('HostProvider', () => {
  it('sends no request for a completion, and loads the computes for a hover', async () => {
    const model = await connectScripted((call) => {
      if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'shop' }] };
      return call.endsWith('/branches')
        ? { branches: [{ id: 'br-main', name: 'main' }] }
        : { endpoints: [computeRecord('ep-calm-1')] };
    });
    const connectionDefaults = { propose: () => ({ role: '', database: '' }) };
    const config = { configuredLogin: () => ({ role: '', database: '' }) };
    const deps = { ...model, connectionDefaults, config } as unknown as HostProviderDependencies;
    const provider = new HostProvider(deps);
    atEndOfTest(() => provider.dispose());
    const at = (text: string) =>
      [
        { lineAt: () => ({ text }), lineCount: 1 } as unknown as TextDocument,
        { line: 0, character: 7 } as Position,
      ] as const;
    const labels = () => provider.complete(...at('PGHOST='))?.items.map(({ label }) => label);
    const token = { onCancellationRequested: () => undefined } as unknown as CancellationToken;
    assert.deepEqual(labels(), ['Load computes…']);
    assert.deepEqual(model.service.requests, []);
    const hover = await provider.hover(...at('ask ep-calm-1'), token);
    assert.match(JSON.stringify(hover), /ep-calm-1/);
    assert.deepEqual(labels(), [
      { label: 'main (shop)', description: 'active · ep-calm-1.example.test' },
      { label: 'main (shop)', description: 'pooled · active · ep-calm-1-pooler.example.test' },
    ]);
  });
});
