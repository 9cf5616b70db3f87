import { quickPicks } from '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { PROJECTS_PER_PAGE } from '../../../../src/api/paths.ts';
import { LastCompute } from '../../../../src/extension/computes/lastCompute.ts';
import { connectScripted, MemoryMap, type ScriptedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../helpers/scriptedService.ts';
import { until } from '../../../workbench/until.ts';

const { pickCompute, requireCompute } = await import('../../../../src/extension/commandSupport/pickers.ts');

describe('pickers', () => {
  let store: ScriptedModel;
  let endpoints: unknown[];

  beforeEach(async () => {
    endpoints = [computeRecord('ep-first')];
    store = await connectScripted(() => ({ endpoints }));
  });

  const find = async (computeId: string) =>
    (await requireCompute(store, { projectId: 'shop', computeId })).id;

  it('returns a loaded compute without another request', async () => {
    await find('ep-first');
    await find('ep-first');
    assert.deepEqual(store.service.requests, ['GET /projects/shop/endpoints']);
  });

  it('refreshes the list once for a compute that is newer than the list', async () => {
    await find('ep-first');
    endpoints.push(computeRecord('ep-second'));
    assert.equal(await find('ep-second'), 'ep-second');
  });

  it('says that a deleted compute no longer exists', async () => {
    await assert.rejects(find('ep-deleted'), { message: 'ep-deleted no longer exists.' });
  });

  it('finds the branch that the compute of an old row is on now', async () => {
    const lastCompute = new LastCompute(store.session, new MemoryMap());
    const computesView = { view: { selection: [], visible: true } };
    const row = { kind: 'compute', projectId: 'shop', branchId: 'br-old', computeId: 'ep-first' };
    const node = await pickCompute({ ...store, lastCompute, computesView }, 'Restart', row);
    assert.equal(node?.branchId, 'br-main');
  });
});

describe('pickCompute', () => {
  let store: ScriptedModel;
  let lastCompute: LastCompute;
  let blogReply: PromiseWithResolvers<unknown>;
  let endpoints: readonly unknown[];

  const named = (...names: string[]) => names.map((name) => computeRecord(`ep-${name}`, { name }));
  const branches = [
    { id: 'br-a', name: 'a' },
    { id: 'br-z', name: 'z', default: true },
  ];
  const blog = { endpoints: [computeRecord('ep-blog', { project_id: 'blog', name: 'blog' })] };

  beforeEach(async () => {
    blogReply = Promise.withResolvers<unknown>();
    endpoints = named('one', 'two');
    store = await connectScripted((call) => {
      if (call.endsWith('/shop/endpoints')) return { endpoints };
      if (call.endsWith('/shop/branches')) return { branches };
      if (call.endsWith('/blog/endpoints')) return blogReply.promise;
      return { projects: ['blog', 'shop'].map((id) => ({ id, name: id })) };
    });
    lastCompute = new LastCompute(store.session, new MemoryMap());
    await store.inventory.projects?.load();
    await store.inventory.loadComputes('shop');
  });

  const open = async (offered: Parameters<typeof pickCompute>[3] = {}) => {
    const computesView = { view: { selection: [], visible: true } };
    const picked = pickCompute({ ...store, lastCompute, computesView }, 'Suspend', undefined, offered);
    const question = await until('the question', async () => quickPicks[0]);
    return { question, picked, labels: () => question.items.map(({ label }) => label) };
  };

  it('keeps the active compute and the places of all when more are loaded', async () => {
    const { question, picked, labels } = await open();
    question.down();
    assert.deepEqual([labels(), question.active], [['one', 'two'], 'two']);
    blogReply.resolve(blog);
    await until('all computes', async () => !question.busy);
    assert.deepEqual([labels(), question.active], [['one', 'two', 'blog'], 'two']);
    question.accept();
    assert.equal((await picked)?.computeId, 'ep-two');
  });

  it('waits for the project of the compute that was used last, and offers that compute first', async () => {
    await lastCompute.remember({
      kind: 'compute',
      projectId: 'blog',
      branchId: 'br-main',
      computeId: 'ep-blog',
    });
    const { question, picked, labels } = await open();
    assert.deepEqual(labels(), []);
    blogReply.resolve(blog);
    await until('all computes', async () => !question.busy);
    assert.equal(question.active, 'blog');
    question.accept();
    assert.equal((await picked)?.computeId, 'ep-blog');
  });

  it('waits only for the project of the last compute, not for others', async () => {
    await lastCompute.remember({
      kind: 'compute',
      projectId: 'shop',
      branchId: 'br-main',
      computeId: 'ep-two',
    });
    await store.inventory.refreshAll([]);
    const { question, labels } = await open();
    await until('the computes of the shop', async () => labels().length > 0);
    assert.deepEqual([labels(), question.busy], [['two', 'one'], true]);
    question.cancel();
    blogReply.resolve(blog);
  });

  it('shows computes as they arrive, and keeps the places of those before', async () => {
    await store.inventory.refreshAll([]);
    const { question, labels } = await open();
    assert.deepEqual([labels(), question.busy], [[], true]);
    await until('the computes of the shop', async () => labels().length > 0);
    assert.deepEqual([labels(), question.busy], [['one', 'two'], true]);
    blogReply.resolve(blog);
    await until('all computes', async () => !question.busy);
    assert.deepEqual(labels(), ['one', 'two', 'blog']);
    question.cancel();
  });

  it('offers the computes of the default branch first, as in the tree', async () => {
    blogReply.resolve(blog);
    endpoints = [
      computeRecord('ep-other', { branch_id: 'br-a', type: 'read_write' }),
      computeRecord('ep-own', { branch_id: 'br-z', type: 'read_write' }),
      computeRecord('ep-replica', { branch_id: 'br-z', type: 'read_only' }),
    ];
    await store.inventory.refreshComputes('shop');
    await store.inventory.branches.ensureLoaded('shop');
    const { question } = await open();
    await until('all computes', async () => !question.busy);
    assert.deepEqual(
      question.items.map(({ label, description = '' }) => `${label} ${description}`),
      [
        'primary active · ep-own',
        'read replica active · ep-replica',
        'primary active · ep-other',
        'blog primary · active · ep-blog',
      ],
    );
    question.cancel();
  });

  it('says why there are no computes, once all are loaded', async () => {
    const { question, picked } = await open({ canPick: () => false, none: 'No compute is active.' });
    assert.equal(question.placeholder, 'Select a compute');
    blogReply.resolve(blog);
    await until('all computes', async () => !question.busy);
    assert.deepEqual([question.items, question.placeholder], [[], 'No compute is active.']);
    question.cancel();
    assert.equal(await picked, undefined);
  });

  it('does not load branches', async () => {
    blogReply.resolve(blog);
    const { question, picked } = await open();
    await until('all computes', async () => !question.busy);
    question.cancel();
    assert.equal(await picked, undefined);
    assert.deepEqual(
      store.service.requests.filter((call) => call.endsWith('/branches')),
      [],
    );
  });
});

describe('computeSteps in a large account', () => {
  const PAGE = PROJECTS_PER_PAGE;

  it('shows the projects of the first page while the next one loads', async () => {
    const secondPage = Promise.withResolvers<unknown>();
    const page = (first: number, cursor?: string) => ({
      projects: Array.from({ length: PAGE }, (_, index) => ({
        id: `p${first + index}`,
        name: `p${first + index}`,
      })),
      pagination: { cursor },
    });
    let requests = 0;
    const store = await connectScripted(async () =>
      (requests += 1) === 1 ? page(0, 'more') : await secondPage.promise,
    );
    const lastCompute = new LastCompute(store.session, new MemoryMap());
    const picked = pickCompute(
      { ...store, lastCompute, computesView: { view: { selection: [], visible: true } } },
      'Suspend',
      undefined,
    );
    const question = await until('the question', async () => quickPicks[0]);
    await until('the first page', async () => question.items.length === PAGE);
    question.down();
    assert.deepEqual([question.busy, question.active], [true, 'p1']);
    secondPage.resolve(page(PAGE));
    await until('all pages', async () => !question.busy);
    assert.deepEqual([question.items.length, question.active], [2 * PAGE, 'p1']);
    question.cancel();
    assert.equal(await picked, undefined);
  });
});
