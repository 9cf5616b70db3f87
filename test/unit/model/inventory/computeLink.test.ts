import assert from 'node:assert/strict';
import { baseUrlOrUndefined, PUBLIC_BASE_URL } from '../../../../src/api/baseUrl.ts';
import type { Account } from '../../../../src/model/account/accounts.ts';
import { computeLink, isForAccount, parseComputeLink } from '../../../../src/model/inventory/computeLink.ts';

const node = { projectId: 'shiny-wind-028834', computeId: 'ep-little-smoke-851426' };
const account: Account = { baseUrl: PUBLIC_BASE_URL, name: 'work' };
const elsewhere = baseUrlOrUndefined('https://db.example.com/api/v2') ?? PUBLIC_BASE_URL;
const start = 'vscode://hosted-postgres.hosted-postgres/compute';

describe('computeLink', () => {
  it('is read back for any scheme of the editor', () => {
    for (const scheme of ['vscode', 'vscode-insiders', 'code-oss', 'vscodium']) {
      const link = computeLink(scheme, account, node);
      assert.ok(link.startsWith(`${scheme}://hosted-postgres.hosted-postgres/compute?`));
      assert.deepEqual(parseComputeLink(link), { ...node, service: PUBLIC_BASE_URL });
    }
  });

  it('contains the address of the account, but neither its name nor its key', () => {
    const link = computeLink('vscode', account, node);
    assert.doesNotMatch(link, /work|key/);
    assert.deepEqual([...new URL(link).searchParams.keys()], ['project', 'endpoint', 'service']);
  });

  it('is valid without a service', () => {
    const link = parseComputeLink(`${start}?project=${node.projectId}&endpoint=${node.computeId}`);
    assert.deepEqual(link, { ...node, service: undefined });
  });

  it('is only for accounts of its service', () => {
    const link = parseComputeLink(computeLink('vscode', account, node));
    const open = parseComputeLink(`${start}?project=${node.projectId}&endpoint=${node.computeId}`);
    assert.ok(link && open);
    const other: Account = { baseUrl: elsewhere, name: '' };
    const local: Account = { baseUrl: PUBLIC_BASE_URL, name: '', local: true };
    assert.deepEqual(
      [account, other, local].map((each) => isForAccount(link, each)),
      [true, false, false],
    );
    assert.deepEqual(
      [account, other, local].map((each) => isForAccount(open, each)),
      [true, true, true],
    );
    const atHome = parseComputeLink(computeLink('vscode', local, node));
    assert.equal(atHome?.service, 'local');
    assert.deepEqual(
      [account, local].map((each) => atHome && isForAccount(atHome, each)),
      [false, true],
    );
  });

  it('is at most 2000 characters long', () => {
    const link = `${computeLink('vscode', account, node)}&more=`;
    assert.ok(parseComputeLink(link.padEnd(2000, 'x')));
    assert.equal(parseComputeLink(link.padEnd(2001, 'x')), undefined);
  });

  it('is read in any case of the address', () => {
    const link = computeLink('vscode', account, node).replace('hosted-postgres.', 'Hosted-Postgres.');
    assert.deepEqual(parseComputeLink(link), { ...node, service: PUBLIC_BASE_URL });
  });

  const refused = [
    '',
    'compute',
    'vscode://hosted-postgres.hosted-postgres/',
    `vscode://someone.else/compute?project=${node.projectId}&endpoint=${node.computeId}`,
    `${start}/x?project=${node.projectId}&endpoint=${node.computeId}`,
    `${start}?project=${node.projectId}`,
    `${start}?endpoint=${node.computeId}`,
    `${start}?project=..%2F..%2Fapi_keys&endpoint=${node.computeId}`,
    `${start}?project=${node.projectId}&endpoint=br-aged-salad-637688`,
    `${start}?project=${node.projectId}&endpoint=ep-a%2F..%2Fb`,
    `${start}?project=${node.projectId}&endpoint=${node.computeId}&service=http://evil.example/api/v2`,
    `${start}?project=${node.projectId}&endpoint=${node.computeId}&service=https://u:p@db.example.com/api/v2`,
    `${start}?project=${node.projectId}&endpoint=${node.computeId}&service=${'x'.repeat(3000)}`,
  ];
  for (const text of refused) {
    it(`is not ${JSON.stringify(text.slice(0, 110))}`, () => assert.equal(parseComputeLink(text), undefined));
  }
});
