import { answers, executed, focus, questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Emitter } from '../../../../../src/base/event.ts';
import type { Disposable } from '../../../../../src/base/disposable.ts';
import { MemoryMap } from '../../../../helpers/connectedModel.ts';
import { createRepository, type GitRepository } from '../../../../helpers/gitRepository.ts';
import { until } from '../../../../workbench/until.ts';

const vscode = await import('vscode');
const noEvent = () => ({ dispose: () => undefined });
Object.assign(vscode.workspace, { onDidGrantWorkspaceTrust: noEvent });

const { FirstOffer, stopOffering } = await import('../../../../../src/extension/gitBranch/ui/firstOffer.ts');
const { hasOpenMessage, window } = await import('../../../../../src/extension/window/ui/window.ts');

describe('The offer of a database branch', () => {
  let repository: GitRepository;
  /** It is checked after the other one, and gets the offer if that one gets none. */
  let control: GitRepository;
  let memory: MemoryMap;
  let offer: Disposable | undefined;
  let session: { onDidChange: unknown; connection: unknown };
  let lists: Map<string, object>;
  let isTrusted: boolean;
  /** Called when a check reads the settings, which is after it has read what is checked out. */
  let readSettings: () => void;
  const changed = new Emitter<void>();
  const [first, second] = ['feature/x', 'control'].map(
    (name) => `Create a database branch for ${name}, and write its URL to .env?`,
  ) as [string, string];

  before(() => assert(!hasOpenMessage(), 'An earlier suite has left a message open'));
  beforeEach(() => {
    [repository, control] = [createRepository(), createRepository()];
    repository.git('switch', '--quiet', '--create', 'feature/x');
    control.git('switch', '--quiet', '--create', 'control');
    memory = new MemoryMap();
    lists = new Map([['shop', {}]]);
    [isTrusted, focus.has] = [true, true];
    readSettings = () => undefined;
    session = { onDidChange: changed.event, connection: {} };
    answers.length = questions.length = executed.length = 0;
    const folders = [repository, control].map(({ folder }) => ({ uri: vscode.Uri.file(folder) }));
    Object.defineProperties(vscode.workspace, {
      workspaceFolders: { value: folders, configurable: true },
      textDocuments: { value: [], writable: true, configurable: true },
      isTrusted: { get: () => isTrusted, configurable: true },
    });
    open();
  });
  afterEach(() => {
    offer?.dispose();
    delete (vscode.workspace as { workspaceFolders?: unknown }).workspaceFolders;
    Object.defineProperty(vscode.workspace, 'isTrusted', { value: true, configurable: true });
  });

  const open = () => {
    offer?.dispose();
    const inventory = {
      onDidChange: changed.event,
      projects: { entries: new Map([['shop', {}]]) },
      branches: { forProject: (id: string) => lists.get(id) },
    };
    const config = {
      envFileSettings: () => (readSettings(), { file: '.env', variable: 'DATABASE_URL' }),
    };
    const log = { error: (what: string, error: unknown) => assert.fail(`${what}: ${String(error)}`) };
    const deps = { session, inventory, config, log };
    offer = new FirstOffer(deps as unknown as ConstructorParameters<typeof FirstOffer>[0], memory);
  };
  const asked = async (question: string) => {
    changed.fire();
    await until(question, async () => questions.includes(question));
  };

  it('creates the branch after Yes', async () => {
    answers.push('Yes');
    await asked(first);
    await until('the command', async () => executed.length > 0);
    const argument = { folder: repository.folder, gitBranch: 'feature/x' };
    assert.deepEqual(executed, [['hostedPostgres.workBranch.create', argument]]);
  });

  it('comes once for a repository, also in later windows and other worktrees', async () => {
    answers.push('Not in This Repository');
    await asked(first);
    repository.git('switch', '--quiet', '--create', 'feature/y');
    open();
    await asked(second);
    assert.deepEqual([questions, executed], [[first, second], []]);
  });

  it('comes when another git branch than the default one is checked out', async () => {
    repository.git('switch', '--quiet', 'main');
    await asked(second);
    repository.git('switch', '--quiet', 'feature/x');
    await until(first, async () => questions.includes(first));
  });

  it('comes when it is checked out while the one before is being checked', async () => {
    for (const each of [repository, control]) each.git('switch', '--quiet', 'main');
    readSettings = () => {
      readSettings = () => undefined;
      repository.git('switch', '--quiet', 'feature/x');
      changed.fire();
    };
    await asked(first);
  });

  const lacks: readonly (readonly [what: string, change: () => void])[] = [
    ['the default git branch', () => void repository.git('switch', '--quiet', 'main')],
    ['a detached HEAD', () => void repository.git('switch', '--quiet', '--detach', 'main')],
    ['a folder without git', () => rmSync(path.join(repository.folder, '.git'), { recursive: true })],
    ['a file with a value', () => writeFileSync(path.join(repository.folder, '.env'), 'DATABASE_URL=x\n')],
    ['a repository that is followed', () => void repository.git('config', 'hostedPostgres.follow', 'true')],
    [
      'a repository that the public command line follows',
      () => writeFileSync(path.join(repository.folder, '.neon'), '{"git": {"follow": true}}'),
    ],
  ];
  for (const [what, change] of lacks)
    it(`does not come for ${what}`, async () => {
      change();
      await asked(second);
      assert.deepEqual(questions, [second]);
    });

  it('does not come for a folder that the user has run a command for', async () => {
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    assert(folder !== undefined);
    stopOffering(folder);
    await asked(second);
    assert.deepEqual(questions, [second]);
  });

  const waits: readonly (readonly [what: string, from: () => void, to: () => void])[] = [
    ['an account', () => (session.connection = undefined), () => (session.connection = {})],
    ['the branches of a project', () => lists.clear(), () => lists.set('shop', {})],
    ['trust', () => (isTrusted = false), () => (isTrusted = true)],
    ['the focus', () => (focus.has = false), () => (focus.has = true)],
  ];
  for (const [what, from, to] of waits)
    it(`waits for ${what}`, async () => {
      from();
      changed.fire();
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(questions, []);
      to();
      await asked(first);
    });

  it('waits until another message is closed', async () => {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    answers.push(promise);
    const shown = window.showInformationMessage('Another');
    changed.fire();
    resolve(undefined);
    await shown;
    assert.deepEqual(questions, ['Another']);
    await asked(first);
  });
});
