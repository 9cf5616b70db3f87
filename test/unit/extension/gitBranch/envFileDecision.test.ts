import assert from 'node:assert/strict';
import {
  decideEnvFileChange,
  isOfOtherGitBranch,
  reasonToAsk,
  type EnvFileDecision,
  type EnvFileFacts,
} from '../../../../src/extension/gitBranch/envFileDecision.ts';
import type { BranchRef } from '../../../../src/extension/account/refs.ts';

const ref = (branchId: string, account = 'local'): BranchRef => ({ account, projectId: 'shop-1', branchId });
const [feature, other, root] = [ref('br-feature'), ref('br-other'), ref('br-root')];

/** `feature` is checked out, and the file still points to the branch of `other`. */
const facts: EnvFileFacts = {
  git: { branch: 'feature', pause: undefined },
  isFollowedByNeon: false,
  isDefaultBranch: false,
  map: {
    isFollowed: true,
    branches: new Map<string, BranchRef | 'none'>([
      ['feature', feature],
      ['other', other],
      ['without', 'none'],
    ]),
    parent: root,
    created: [],
    ignoresCase: false,
  },
  gitProblem: undefined,
  file: 'writable',
  current: other,
  isUndone: false,
  account: 'local',
  problem: undefined,
  lacksOwn: undefined,
};
const on = (branch: string | undefined): Partial<EnvFileFacts> => ({ git: { branch, pause: undefined } });
const stopped = (reason: string) => ({ kind: 'stopped', reason });

const cases: readonly (readonly [situation: string, change: Partial<EnvFileFacts>, decision: object])[] = [
  ['a mapped branch', {}, { kind: 'switch', target: feature }],
  ['a value of the chosen parent', { current: root }, { kind: 'switch', target: feature }],
  ['a file that is right', { current: feature }, { kind: 'nothing' }],
  ['a right file that git tracks', { current: feature, file: 'tracked' }, { kind: 'nothing' }],
  ['a right file without a connection', { current: feature, account: undefined }, { kind: 'nothing' }],
  ['a repository that is not followed', { map: { ...facts.map, isFollowed: false } }, { kind: 'nothing' }],
  [
    'a repository that the command line follows',
    { isFollowedByNeon: true },
    { kind: 'keep', reason: 'byNeon' },
  ],
  ['an unknown git branch', on('new'), { kind: 'ask' }],
  ['an unknown git branch and a foreign value', { ...on('new'), current: undefined }, { kind: 'ask' }],
  ['a git branch that the user wants none for', on('without'), { kind: 'keep', reason: 'declined' }],
  [
    'the default git branch',
    { ...on('main'), isDefaultBranch: true, current: root },
    { kind: 'keep', reason: 'defaultBranch' },
  ],
  [
    'the default git branch and the parent, which another git branch uses, too',
    {
      ...on('main'),
      isDefaultBranch: true,
      current: root,
      map: { ...facts.map, branches: new Map([['feature', root]]) },
    },
    { kind: 'keep', reason: 'defaultBranch' },
  ],
  [
    'the default git branch and a foreign value',
    { ...on('main'), isDefaultBranch: true, current: undefined },
    { kind: 'keep', reason: 'defaultBranch' },
  ],
  [
    'the default git branch and the database of another one',
    { ...on('main'), isDefaultBranch: true },
    { kind: 'ask' },
  ],
  ['a detached HEAD', on(undefined), { kind: 'paused', reason: 'detached' }],
  ['a rebase', { git: { branch: undefined, pause: 'rebase' } }, { kind: 'paused', reason: 'rebase' }],
  [
    'a merge on a mapped branch',
    { git: { branch: 'feature', pause: 'merge' } },
    { kind: 'paused', reason: 'merge' },
  ],
  [
    'a bisection that starts on a branch',
    { git: { branch: 'new', pause: 'bisect' } },
    { kind: 'paused', reason: 'bisect' },
  ],
  ['a switch that was undone', { isUndone: true }, { kind: 'keep', reason: 'undone' }],
  [
    'a git that fails',
    { gitProblem: 'fatal: no', map: { ...facts.map, isFollowed: false } },
    { ...stopped('gitFailed'), message: 'fatal: no' },
  ],
  ['a missing file or variable', { file: 'none', current: undefined }, stopped('noValue')],
  ['a value with an unknown host', { current: undefined }, stopped('foreignValue')],
  ['a value of another branch of the project', { current: ref('br-production') }, stopped('foreignValue')],
  [
    'a value of the same branch id in another account',
    { current: ref('br-other', 'https://x') },
    stopped('foreignValue'),
  ],
  ['a file that cannot be read', { file: 'noFile', current: undefined }, stopped('noFile')],
  ['unsaved changes in an editor', { file: 'unsaved' }, stopped('unsaved')],
  ['a file that git tracks', { file: 'tracked' }, stopped('tracked')],
  ['another account', { account: 'https://x' }, stopped('otherAccount')],
  ['no connection', { account: undefined }, stopped('offline')],
  ['a service that is not reachable', { problem: 'offline' }, stopped('offline')],
  [
    'a branch that another window does not know yet',
    { problem: 'deleted' },
    { kind: 'switch', target: feature },
  ],
  ['a deleted branch in the file', { problem: 'deleted', current: feature }, stopped('deleted')],
  ['an expired branch', { problem: 'expired' }, stopped('expired')],
  ['an expired branch in the file', { problem: 'expired', current: feature }, stopped('expired')],
  ['a branch without a compute', { problem: 'noCompute' }, stopped('noCompute')],
  ['a service without passwords', { problem: 'noPassword' }, stopped('noPassword')],
];

describe('decideEnvFileChange', () => {
  for (const [situation, change, expected] of cases)
    it(`${Object.values(expected)
      .slice(0, 2)
      .filter((part) => typeof part === 'string')
      .join(' ')}: ${situation}`, () => {
      const decision: EnvFileDecision = decideEnvFileChange({ ...facts, ...change });
      assert.deepEqual(decision, expected);
    });
});

describe('reasonToAsk', () => {
  const missing: Partial<EnvFileFacts> = { lacksOwn: 'missing', file: 'none', current: undefined };
  const unmapped: Partial<EnvFileFacts> = { ...on('new'), map: { ...facts.map, isFollowed: false } };
  const questions: readonly (readonly [
    situation: string,
    change: Partial<EnvFileFacts>,
    reason: string | undefined,
  ])[] = [
    ['a followed git branch without a database branch', on('new'), 'unmapped'],
    ['a linked worktree without a file', { ...unmapped, ...missing }, 'missing'],
    ['a linked worktree without a file, whose git branch has a database branch', missing, 'missing'],
    ['a linked worktree with a copied file', { ...unmapped, lacksOwn: 'shared' }, 'shared'],
    ['a worktree whose git branch has a database branch', { lacksOwn: 'shared' }, undefined],
    ['a worktree that the user wants none for', { ...on('without'), ...missing }, undefined],
    ['a detached worktree', { ...on(undefined), ...missing }, undefined],
    ['a worktree of the default git branch', { ...unmapped, ...missing, isDefaultBranch: true }, undefined],
    [
      'a worktree that the command line follows',
      { ...unmapped, ...missing, isFollowedByNeon: true },
      undefined,
    ],
    ['a worktree whose map git cannot read', { ...unmapped, ...missing, gitProblem: 'fatal: no' }, undefined],
    ['a worktree that lacks nothing', unmapped, undefined],
  ];
  for (const [situation, change, reason] of questions)
    it(`${reason ?? 'asks nothing'}: ${situation}`, () => {
      const all = { ...facts, ...change };
      assert.equal(reasonToAsk(decideEnvFileChange(all), all), reason);
    });
});

describe('isOfOtherGitBranch', () => {
  const notFollowed: EnvFileFacts = { ...facts, map: { ...facts.map, isFollowed: false } };
  for (const [situation, change, expected] of [
    ['a mapped branch', {}, true],
    ['a git branch without a database branch', on('new'), true],
    ['the branch of the checked-out git branch', { current: feature }, false],
    ['a branch that belongs to no git branch', { ...on('new'), current: root }, false],
    ['a git branch that the user wants none for', on('without'), false],
    ['a file without a known host', { current: undefined }, false],
    ['a detached HEAD', on(undefined), false],
    ['a rebase', { git: { branch: 'feature', pause: 'rebase' } }, false],
    ['a file that follows', { map: facts.map }, false],
    ['a repository that the command line follows', { isFollowedByNeon: true }, false],
  ] as const)
    it(`is ${expected} for ${situation}`, () => {
      assert.equal(isOfOtherGitBranch({ ...notFollowed, ...change }), expected);
    });
});
