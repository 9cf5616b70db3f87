import { answers, dialogs, executed, questions, quickPicks } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { connectModel, type ConnectedModel } from '../../../../helpers/connectedModel.ts';
import { CodedError, scriptService, type Script } from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';
import { commandContext } from '../../../../helpers/commandContext.ts';

const { handleCommand } = await import('../../../../../src/extension/commandHandlers.ts');

const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString();
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString();

describe('Recover a Deleted Project…', () => {
  let model: ConnectedModel;
  /** The service ignores `recoverable` if undefined. */
  let deleted: { id: string; name: string; deleted_at: string; recoverable_until: string }[] | undefined;
  let projects: { id: string; name: string }[];
  let calls: string[];
  let errors: unknown[];

  const script: Script = (call, query, _body) => {
    if (call === 'GET /projects')
      return { projects: query?.get('recoverable') === 'true' && deleted !== undefined ? deleted : projects };
    if (call.endsWith('/endpoints')) return { endpoints: [] };
    if (call.endsWith('/branches')) return { branches: [] };
    calls.push(call);
    const id = call.split('/')[2] ?? '';
    const [project] = [...projects, ...(deleted ?? [])].filter((each) => each.id === id);
    if (project === undefined) return new CodedError(404, 'not found');
    projects = projects.filter((each) => each !== project);
    deleted = deleted?.filter((each) => each !== project);
    const times = { deleted_at: YESTERDAY, recoverable_until: TOMORROW };
    if (call.endsWith('/recover')) projects.push(project);
    else deleted?.push({ ...project, ...times });
    return { project };
  };

  beforeEach(async () => {
    answers.length = questions.length = dialogs.length = quickPicks.length = executed.length = 0;
    [calls, errors] = [[], []];
    projects = [{ id: 'shop', name: 'Shop' }];
    deleted = ['blog', 'wiki'].map((id) => ({
      id,
      name: id.toUpperCase(),
      deleted_at: YESTERDAY,
      recoverable_until: TOMORROW,
    }));
    const { baseUrl } = await scriptService(script);
    model = await connectModel({ baseUrl });
    await model.inventory.ensureProjects();
  });

  const run = (command: 'recover' | 'delete', argument?: object) => {
    const context = commandContext(model, {
      config: { organizationOf: () => undefined },
      log: { error: (_activity: string, error: unknown) => errors.push(error) },
    });
    return handleCommand(context, `hostedPostgres.project.${command}`, argument);
  };
  const node = (projectId: string) => ({ kind: 'project', projectId });

  it('offers those that the service keeps, and recovers the chosen one', async () => {
    const end = run('recover');
    await until('the list', async () => (quickPicks[0]?.items.length ?? 0) > 0);
    assert.deepEqual(
      quickPicks[0]?.items.map(({ label, description }) => [label, description]),
      [
        ['BLOG', 'deleted yesterday'],
        ['WIKI', 'deleted yesterday'],
      ],
    );
    quickPicks[0]?.down();
    quickPicks[0]?.accept();
    await end;
    assert.deepEqual(calls, ['POST /projects/wiki/recover']);
    assert.equal(model.inventory.project('wiki')?.name, 'WIKI');
  });

  it('says that no project can be recovered, also of a service that does not know the list', async () => {
    for (const none of [[], undefined]) {
      deleted = none;
      await run('recover');
      assert.match(String(questions.at(-1)), /There is no deleted project that can be recovered\./);
    }
    assert.deepEqual(calls, []);
  });

  it('is offered as Undo after a deletion', async () => {
    answers.push('Shop', 'Undo');
    await run('delete', node('shop'));
    await until('the offer', async () => executed.length > 0);
    assert.deepEqual(executed, [['hostedPostgres.project.recover', node('shop')]]);
    assert.match(String(questions[0]), /It can be recovered only if the service keeps it/);
    assert.match(String(questions.at(-1)), /^Deleted Shop\. It can be recovered until /);
    await run('recover', node('shop'));
    assert.deepEqual(calls, ['DELETE /projects/shop', 'POST /projects/shop/recover']);
    assert.deepEqual(errors, []);
  });

  it('is not offered if the service did not keep the project, and a message says so', async () => {
    deleted = undefined;
    answers.push('Shop');
    await run('delete', node('shop'));
    await until('the message', async () => questions.length > 1);
    assert.match(String(questions[0]), /It can be recovered only if the service keeps it/);
    assert.match(String(questions.at(-1)), /^Deleted Shop for good: the service keeps no copy of it\./);
    assert.deepEqual(executed, []);
  });
});
