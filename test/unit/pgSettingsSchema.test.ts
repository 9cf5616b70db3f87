/** Compares the schema of settings documents with the manifest and the service's rules. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { PUBLIC_BASE_URL } from '../helpers/publicBaseUrl.ts';
import { settingsUri } from '../../src/extension/computes/settings/pgSettings.ts';
import { readText } from '../helpers/projectFiles.ts';

const read = (file: string) => JSON.parse(readText(file));

interface Setting {
  readonly description?: string;
  readonly default?: unknown;
  readonly doNotSuggest?: boolean;
}

describe('The schema of Postgres settings', () => {
  const [{ fileMatch, url }] = read('package.json').contributes.jsonValidation;
  const schema = read(url);
  const settings: Record<string, Setting> = schema.properties;

  it('matches the paths of settings documents', () => {
    const owner = { projectId: 'shop', computeId: 'ep-one' };
    const address = settingsUri({ baseUrl: PUBLIC_BASE_URL, name: '' }, owner, 'feature-log-in');
    // VS Code puts `**/` before it.
    assert.ok(path.posix.matchesGlob(address.path, `**/${fileMatch}`), address.path);
  });

  it('describes the most important settings', () => {
    for (const name of ['work_mem', 'maintenance_work_mem', 'statement_timeout', 'random_page_cost', 'jit'])
      assert.ok(settings[name], name);
    for (const [name, { description }] of Object.entries(settings)) assert.ok(description, name);
  });

  it('rejects settings that the service fixes, and says why', () => {
    for (const name of ['max_connections', 'shared_buffers']) {
      assert.equal(settings[name]?.doNotSuggest, true);
      assert.match(settings[name]?.description ?? '', /^Fixed: /);
    }
  });

  it('accepts unknown settings, such as those of Postgres extensions', () => {
    assert.deepEqual(schema.additionalProperties, { type: ['string', 'number', 'boolean'] });
  });
});
