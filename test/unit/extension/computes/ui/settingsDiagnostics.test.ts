import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';

const { createDiagnostics } = await import('../../../../../src/extension/computes/ui/settingsDiagnostics.ts');

describe('createDiagnostics', () => {
  const text = JSON.stringify({ work_mem: 'lots' });

  /** What VS Code would show for this text, as `offset message`; offset 0 is the first line. */
  const shown = (current: string, rejected?: Parameters<typeof createDiagnostics>[1]) => {
    const document = {
      getText: () => current,
      lineAt: () => ({ range: { start: 0 } }),
      positionAt: (offset: number) => offset,
    };
    return createDiagnostics(document as never, rejected).map(
      ({ range, message }) => `${Number(range.start)} ${message}`,
    );
  };

  it('shows why the service has rejected the text at its setting, until the text changes', () => {
    const reason = 'invalid value for parameter "work_mem": "lots"';
    assert.deepEqual(shown(text, { text, reason }), [`1 ${reason}`]);
    assert.deepEqual(shown('{"work_mem":"1MB"}', { text, reason }), []);
  });

  it('shows a reason without a setting on the first line', () => {
    assert.deepEqual(shown(text, { text, reason: 'the disk is full' }), ['0 the disk is full']);
  });

  it('shows the rules that the text breaks, but no syntax errors', () => {
    assert.match(shown('[]').join(), /^0 Expected an object/);
    assert.match(shown('{"a":[]}').join(), /^1 The value must be/);
    assert.match(shown('{"shared_buffers":"1GB"}').join(), /^1 shared_buffers is fixed/);
    assert.match(shown('{"max_connections":1}').join(), /^1 max_connections depends on/);
    assert.deepEqual(shown('{'), []);
  });
});
