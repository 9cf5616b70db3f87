import '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';

const { diagnosticsOf, SettingsDocument } = await import('../../../../src/ui/settings/settingsDocument.ts');

const owner = { projectId: 'shop', computeId: 'ep-main' };
const [old, wanted, other] = [{ work_mem: '4MB' }, { work_mem: 'lots' }, { work_mem: '8MB' }];
const text = JSON.stringify(wanted);

describe('SettingsDocument', () => {
  let state: InstanceType<typeof SettingsDocument>;

  beforeEach(() => {
    state = new SettingsDocument({} as never, owner, old);
  });

  /** What VS Code would show for this text, as `offset message`; offset 0 is the first line. */
  const shown = (current: string, isDirty = false) => {
    const document = {
      getText: () => current,
      isDirty,
      lineAt: () => ({ range: { start: 0 } }),
      positionAt: (offset: number) => offset,
    };
    return diagnosticsOf(document as never, state).map(
      ({ range, message }) => `${Number(range.start)} ${message}`,
    );
  };

  it('starts with the formatted settings of the service', () => {
    assert.equal(state.text, '{\n  "work_mem": "4MB"\n}\n');
    assert.deepEqual([state.isKnown(old), state.isKnown(other)], [true, false]);
    assert.deepEqual(shown(state.text), []);
  });

  it('increases its time with every change of the text', () => {
    const times = [state.changedAt];
    for (const each of ['a', 'b', 'c']) {
      state.save(each, 'notApplied');
      times.push(state.changedAt);
    }
    assert.equal(new Set(times).size, 4);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
  });

  it('knows the settings before and after a pending change', () => {
    state.accept(text, wanted, old);
    assert.deepEqual(
      [old, wanted, other].map((settings) => state.isKnown(settings)),
      [true, true, false],
    );
    assert.equal(state.status, 'applied');
    state.accept(text, wanted);
    assert.equal(state.isKnown(old), false);
  });

  it('goes back to the previous settings when a pending change fails', () => {
    state.accept(text, wanted, old);
    state.reject('invalid value for parameter "work_mem": "lots"');
    assert.deepEqual([state.base, state.status, state.text], [old, 'notApplied', text]);
    assert.equal(state.isKnown(wanted), false);
  });

  it('shows a rejection at its setting until the value changes', () => {
    state.save(text, 'notApplied');
    state.reject('invalid value for parameter "work_mem": "lots"');
    const message = '1 invalid value for parameter "work_mem": "lots"';
    assert.deepEqual(shown(text), [message]);
    assert.deepEqual(shown('{"work_mem":"lots","jit":"off"}'), [message]);
    assert.deepEqual(shown('{"work_mem":"1MB"}', true), []);
    state.accept('{"work_mem":"1MB"}', { work_mem: '1MB' });
    assert.deepEqual(shown(text), []);
  });

  it('shows a rejection without a setting on the first line until the text changes', () => {
    state.save(text, 'notApplied');
    state.reject('the disk is full');
    assert.deepEqual(shown(text), ['0 the disk is full']);
    assert.deepEqual(shown('{}', true), []);
  });

  it('warns that the saved text is not applied', () => {
    state.save(text, 'notApplied');
    assert.match(shown(text)[0] ?? '', /^0 Saved, but not applied/);
    assert.deepEqual(shown(text, true), []);
  });

  it('shows the rules that the text breaks, but no syntax errors', () => {
    assert.match(shown('[]').join(), /^0 Expected an object/);
    assert.match(shown('{"a":[]}').join(), /^1 The value must be/);
    assert.match(shown('{"shared_buffers":"1GB"}').join(), /^1 shared_buffers is fixed/);
    assert.match(shown('{"max_connections":1}').join(), /^1 max_connections depends on/);
    assert.deepEqual(shown('{'), []);
  });
});
