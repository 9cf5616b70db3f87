import assert from 'node:assert/strict';
import type { Branch } from '../../../../src/api/records/records.ts';
import { BranchList } from '../../../../src/extension/inventory/branchLists.ts';
import { EMPTY_MAP, type CreatedBranch } from '../../../../src/extension/gitBranch/branchMap.ts';
import {
  countUnusedBranches,
  findUnusedBranches,
  type CleanupFacts,
} from '../../../../src/extension/gitBranch/unusedBranches.ts';
import type { BranchRef } from '../../../../src/extension/account/refs.ts';

const ref = (branchId: string, account = 'local'): BranchRef => ({ account, projectId: 'shop-1', branchId });
const created = (branchId: string, gitBranch = branchId): CreatedBranch => ({ ...ref(branchId), gitBranch });
const branch = (id: string, fields: Partial<Branch> = {}): Branch => ({
  id,
  name: id,
  parent_id: 'br-main',
  ...fields,
});

describe('findUnusedBranches', () => {
  let facts: CleanupFacts;
  const listOf = async (...items: readonly Branch[]) => {
    const list = new BranchList({
      projectId: 'shop-1',
      fetch: async () => ({ list: { items, unreadable: [] }, body: '' }),
      onChange: () => {},
    });
    await list.refresh();
    return new Map([['shop-1', list]]);
  };
  const reasonsOf = (change: Partial<CleanupFacts>) =>
    findUnusedBranches({ ...facts, ...change }).kept.map(({ created: { branchId }, reason }) => [
      branchId,
      reason,
    ]);
  const idsOf = (change: Partial<CleanupFacts>) => {
    const { unused, gone } = findUnusedBranches({ ...facts, ...change });
    return [unused, gone].map((found) =>
      found.map((each) => ('created' in each ? each.created : each).branchId),
    );
  };

  before(async () => {
    const lists = await listOf(branch('br-main', { parent_id: null, default: true }), branch('br-one'));
    const map = { ...EMPTY_MAP, created: [created('br-one')] };
    facts = {
      map,
      gitBranches: new Set(['main']),
      inFiles: [],
      account: 'local',
      lists,
      isMarked: () => false,
    };
  });

  it('finds a branch whose git branch is gone, with its record', () => {
    assert.deepEqual(findUnusedBranches(facts), {
      unused: [{ created: created('br-one'), branch: branch('br-one') }],
      kept: [],
      gone: [],
    });
  });

  it('counts each branch without a list of the service, and none that is used', () => {
    const records = [
      created('br-one'),
      created('br-one', 'two'),
      created('br-two'),
      created('br-main', 'main'),
    ];
    const map = { ...EMPTY_MAP, created: records };
    assert.equal(
      countUnusedBranches({ ...facts, map }, () => false),
      2,
    );
    assert.equal(
      countUnusedBranches({ ...facts, map, inFiles: [ref('br-two')] }, () => false),
      1,
    );
    assert.equal(
      countUnusedBranches({ ...facts, map: { ...map, parent: ref('br-one') } }, () => false),
      1,
    );
  });

  it('returns those that no longer exist separately', () => {
    const map = { ...EMPTY_MAP, created: [created('br-one'), created('br-two')] };
    assert.deepEqual(idsOf({ map }), [['br-one'], ['br-two']]);
  });

  it('keeps the record of a branch that the service returns unreadably', async () => {
    const unreadable = [{ id: 'br-two', field: 'name' }];
    const list = new BranchList({
      projectId: 'shop-1',
      fetch: async () => ({ list: { items: [branch('br-one')], unreadable }, body: '' }),
      onChange: () => {},
    });
    await list.refresh();
    const map = { ...EMPTY_MAP, created: [created('br-one'), created('br-two')] };
    assert.deepEqual(idsOf({ map, lists: new Map([['shop-1', list]]) }), [['br-one'], []]);
  });

  it('finds nothing that it does not know', () => {
    assert.deepEqual(idsOf({ map: EMPTY_MAP }), [[], []], 'another branch of the project');
    assert.deepEqual(idsOf({ lists: new Map() }), [[], []], 'a deleted project');
    assert.deepEqual(idsOf({ account: 'https://x' }), [[], []], 'another account');
  });

  it('leaves what is used', () => {
    const one = ref('br-one');
    const uses: Record<string, Partial<CleanupFacts>> = {
      'by its git branch': { gitBranches: new Set(['br-one']) },
      'by another git branch, for example after a rename': {
        gitBranches: new Set(['new']),
        map: { ...facts.map, branches: new Map([['new', one]]) },
      },
      'by another git branch that it was also created for': {
        gitBranches: new Set(['new']),
        map: { ...facts.map, created: [created('br-one'), created('br-one', 'new')] },
      },
      'as the parent of new branches': { map: { ...facts.map, parent: one } },
      'by an env file': { inFiles: [one] },
      'in an account or project that the user has marked': { isMarked: () => true },
    };
    for (const [use, change] of Object.entries(uses)) assert.deepEqual(idsOf(change), [[], []], use);
    const reasons = ['gitBranch', 'gitBranch', 'newParent', 'envFile', 'marked'];
    assert.deepEqual(
      Object.values(uses).flatMap(reasonsOf),
      reasons.map((reason) => ['br-one', reason]),
    );
    const left = { ...facts.map, branches: new Map([['deleted', one]]) };
    assert.deepEqual(idsOf({ map: left }), [['br-one'], []], 'an entry that git has left');
  });

  it('leaves the default branch, roots, protected branches and those with children', async () => {
    const lists = await listOf(
      branch('br-default', { default: true }),
      branch('br-root', { parent_id: null }),
      branch('br-protected', { protected: true }),
      branch('br-parent'),
      branch('br-child', { parent_id: 'br-parent' }),
    );
    const names = ['br-default', 'br-root', 'br-protected', 'br-parent', 'br-child'];
    const map = { ...EMPTY_MAP, created: names.map((name) => created(name)) };
    assert.deepEqual(idsOf({ lists, map }), [['br-child'], []]);
    assert.deepEqual(reasonsOf({ lists, map }), [
      ['br-default', 'default'],
      ['br-root', 'root'],
      ['br-protected', 'protected'],
      ['br-parent', 'parent'],
    ]);
  });

  it('finds the git branch in another case where file names ignore case', () => {
    const gitBranches = new Set(['BR-ONE']);
    assert.deepEqual(idsOf({ gitBranches }), [['br-one'], []]);
    assert.deepEqual(idsOf({ gitBranches, map: { ...facts.map, ignoresCase: true } }), [[], []]);
  });
});
