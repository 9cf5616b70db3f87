import { answers, executed, focus, questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { Emitter } from '../../../../../src/base/event.ts';
import type { Disposable } from '../../../../../src/base/disposable.ts';
import { MemoryMap } from '../../../../helpers/connectedModel.ts';

const { offerNames } = await import('../../../../../src/extension/inventory/ui/namesOffer.ts');
const { NameOrder } = await import('../../../../../src/extension/window/ui/idAndName.ts');
const { hasOpenMessage } = await import('../../../../../src/extension/window/ui/window.ts');

const QUESTION = 'Show branches and computes by name in the place of their id?';

describe('The offer to show names first', () => {
  const changed = new Emitter<void>();
  let nameOrder: InstanceType<typeof NameOrder>;
  let session: { connection: unknown };
  let lists: Map<string, object>;
  let view: { visible: boolean; onDidChangeVisibility: unknown };
  let offer: Disposable | undefined;

  before(() => assert(!hasOpenMessage(), 'An earlier suite has left a message open'));
  beforeEach(() => {
    nameOrder = new NameOrder(new MemoryMap());
    session = { connection: {} };
    lists = new Map([['shop', {}]]);
    view = { visible: true, onDidChangeVisibility: changed.event };
    focus.has = true;
    answers.length = questions.length = executed.length = 0;
    const inventory = {
      onDidChange: changed.event,
      projects: { entries: new Map([['shop', {}]]) },
      branches: { forProject: (id: string) => lists.get(id) },
    };
    const deps = { session, inventory, nameOrder } as unknown as Parameters<typeof offerNames>[0];
    offer = offerNames(deps, view as unknown as Parameters<typeof offerNames>[1]);
  });
  afterEach(() => offer?.dispose());

  const afterChange = async () => {
    changed.fire();
    await new Promise((resolve) => setImmediate(resolve));
  };

  it('changes the order after the click', async () => {
    answers.push('Show Names First');
    await afterChange();
    assert.deepEqual([questions, executed], [[QUESTION], [['hostedPostgres.view.showNamesFirst']]]);
  });

  for (const answer of ['Keep Ids', undefined])
    it(`comes once after ${answer ?? 'no answer'}`, async () => {
      answers.push(answer);
      await afterChange();
      await afterChange();
      assert.deepEqual([questions, executed], [[QUESTION], []]);
    });

  it('does not come after the user has chosen an order', async () => {
    await nameOrder.change(false);
    await afterChange();
    assert.deepEqual(questions, []);
  });

  const waits: readonly (readonly [what: string, from: () => void, to: () => void])[] = [
    ['an account', () => (session.connection = undefined), () => (session.connection = {})],
    ['the branches of a project', () => lists.clear(), () => lists.set('shop', {})],
    ['the view', () => (view.visible = false), () => (view.visible = true)],
    ['the focus', () => (focus.has = false), () => (focus.has = true)],
  ];
  for (const [what, from, to] of waits)
    it(`waits for ${what}`, async () => {
      from();
      await afterChange();
      assert.deepEqual(questions, []);
      to();
      await afterChange();
      assert.deepEqual(questions, [QUESTION]);
    });
});
