import assert from 'node:assert/strict';
import type { AccountConnection } from '../../../../../src/extension/account/accountConnection.ts';
import { ownMaker } from '../../../../../src/rehearsal/abandonedCopies.ts';
import { rehearseOnCopy } from '../../../../../src/extension/database/rehearsals/rehearseOnCopy.ts';

type Dependencies = Parameters<typeof rehearseOnCopy>[0];
interface Made {
  readonly id: string;
  readonly name: string;
  readonly maker: string;
}

const running = await ownMaker();
/** No process has this number on any system. */
const ended = { ...running, pid: 2 ** 31 - 1, uniqueId: 'another' };
const copy = (id: string, maker: object, name = `rehearsal-${id}`): Made => ({
  id,
  name,
  maker: JSON.stringify(maker),
});

describe('rehearseOnCopy', () => {
  let sent: unknown[];
  let makers: string[];
  beforeEach(() => ([sent, makers] = [[], []]));

  /** Rehearses on a branch whose copy has no compute, so that the rehearsal ends after it was created and deleted. */
  const rehearse = async ({ isLocal = true, made = [] as readonly Made[] } = {}) => {
    const note = async (what: string, options: { readonly isQuiet?: boolean }) => {
      sent.push(`${what}${options.isQuiet === true ? ' quietly' : ''}`);
      return { branch: { id: 'br-copy' }, pendingId: undefined };
    };
    const deps = {
      branchActions: {
        create: (_: string, creation: { annotation_value?: { maker: string } }, options: object) => {
          makers.push(creation.annotation_value?.maker ?? 'none');
          return note('create', options);
        },
        delete: (of: { branchId: string }, _how: object, options: object) =>
          note(`delete ${of.branchId}`, options),
      },
      tracker: { onDidEnd: () => ({ dispose: () => undefined }) },
      log: { error: (what: string, error: unknown) => assert.fail(`${what}: ${String(error)}`) },
    };
    const connection = {
      isLocal,
      signal: new AbortController().signal,
      client: async () => ({
        branches: { listWithMakers: async () => made },
        listRoles: async () => [],
        getProject: async () => ({}),
      }),
    };
    const request = {
      parent: { projectId: 'shop', branchId: 'br-main' },
      database: 'app',
      run: async () => 0,
    };
    const rehearsed = rehearseOnCopy(
      deps as unknown as Dependencies,
      connection as unknown as AccountConnection,
      request,
      new AbortController().signal,
    );
    await assert.rejects(rehearsed, /has no login/);
  };

  it('creates and deletes its copy quietly, because the user did neither', async () => {
    await rehearse();
    assert.deepEqual(sent, ['create quietly', 'delete br-copy quietly']);
  });

  it('notes in a local copy which process has made it, and deletes those of ended ones', async () => {
    const made = [
      copy('ended', ended),
      copy('running', running),
      copy('elsewhere', { ...ended, host: 'another' }),
      copy('test', ended, 'of a test'),
    ];
    await rehearse({ made });
    assert.deepEqual(sent, ['delete ended quietly', 'create quietly', 'delete br-copy quietly']);
    assert.deepEqual(
      makers.map((maker) => JSON.parse(maker)),
      [running],
    );
  });

  it('does neither on an account, whose branches can be of other machines', async () => {
    await rehearse({ isLocal: false, made: [copy('ended', ended)] });
    assert.deepEqual(sent, ['create quietly', 'delete br-copy quietly']);
    assert.deepEqual(makers, ['none']);
  });
});
