import assert from 'node:assert/strict';
import { atEndOfTest } from '../../../helpers/atEndOfTest.ts';
import { url, WorkFolderFixture } from '../../../helpers/workFolderFixture.ts';

describe('WorkFolder', () => {
  it('fires when its state changes, and only then', async () => {
    const fixture = new WorkFolderFixture();
    // Without a known host, it reads only the env file, and watches nothing.
    fixture.knownHosts.isEmpty = true;
    atEndOfTest(() => fixture.folder.dispose());
    const hosts: (string | undefined)[] = [];
    fixture.folder.onDidChange(() => hosts.push(fixture.folder.state.host));
    fixture.write(url('unknown-1'));
    await fixture.folder.refresh();
    await fixture.folder.refresh();
    fixture.write(url('unknown-2'));
    await fixture.folder.refresh();
    assert.deepEqual(hosts, ['unknown-1.example.com', 'unknown-2.example.com']);
  });
});
