import assert from 'node:assert/strict';
import { FakeClock } from '../../../helpers/fakeClock.ts';
import { createRepository } from '../../../helpers/gitRepository.ts';
import { ref, url, WorkFolderFixture } from '../../../helpers/workFolderFixture.ts';

describe('WorkFolder, if the env file cannot be written', () => {
  it('logs it once, says so, and tries again with the next refresh', async () => {
    const fixture = new WorkFolderFixture(createRepository(), new FakeClock());
    fixture.repository.git('branch', 'two');
    await fixture.map.setBranch('two', ref('two'));
    await fixture.map.setParent(ref('one'));
    await fixture.map.setFollowed(true);
    fixture.write(url('one'));
    await fixture.folder.refresh();
    const error = new Error('.env is read-only');
    fixture.writeError = error;
    fixture.checkOut('two');
    await fixture.folder.refresh();
    assert.deepEqual(fixture.errors, [error]);
    assert.equal(fixture.value, url('one'));
    assert.deepEqual(fixture.folder.state.decision, { kind: 'stopped', reason: 'notWritten' });
    fixture.writeError = undefined;
    await fixture.folder.refresh();
    assert.equal(fixture.value, url('two', 'new'));
  });
});
