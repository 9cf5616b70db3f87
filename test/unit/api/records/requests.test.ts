import assert from 'node:assert/strict';
import {
  ApiKeyCreationBody,
  ComputePatch,
  ComputePatchBody,
  ComputeCreation,
  ComputeCreationBody,
  DatabaseCreationBody,
  BranchCreationBody,
  BranchPatchBody,
  BranchRestoreBody,
  ProjectCreationBody,
  ProjectPatchBody,
  RoleCreationBody,
  SnapshotCreation,
} from '../../../../src/api/records/requests.ts';

const creation = { branch_id: 'br-main', type: 'read_write' };

describe('ComputeCreationBody', () => {
  const good = [
    creation,
    {
      ...creation,
      type: 'read_only',
      name: 'r',
      suspend_timeout_seconds: -1,
      pooler_enabled: true,
      pooler_mode: 'transaction',
    },
    { ...creation, autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 2 },
    { ...creation, settings: { pg_settings: { work_mem: '4MB', jit: 'off', max_connections: '7' } } },
    { ...creation, settings: {} },
    { ...creation, name: 'x'.repeat(64) },
  ];
  for (const endpoint of good) {
    it(`accepts ${JSON.stringify(endpoint).slice(0, 120)}`, () =>
      assert.deepEqual(ComputeCreationBody.parse({ endpoint }), { endpoint }));
  }

  const bad: readonly [unknown, string][] = [
    [{ type: 'read_write' }, 'branch_id'],
    [{ branch_id: 'br-main' }, 'type'],
    [{ ...creation, branch_id: 'main' }, 'branch_id'],
    [{ ...creation, type: 'primary' }, 'type'],
    [{ ...creation, name: '' }, 'name'],
    [{ ...creation, name: 'x'.repeat(65) }, 'name'],
    [{ ...creation, suspend_timeout_seconds: 59 }, 'suspend_timeout_seconds'],
    [{ ...creation, suspend_timeout_seconds: 90.5 }, 'suspend_timeout_seconds'],
    [{ ...creation, autoscaling_limit_min_cu: '1' }, 'autoscaling_limit_min_cu'],
    [{ ...creation, settings: { pg_settings: { a: null } } }, 'settings'],
    [{ ...creation, settings: { pg_settings: { jit: false } } }, 'settings'],
    [{ ...creation, pooler_mode: 'session' }, 'pooler_mode'],
    [{ ...creation, disabled: 'no' }, 'disabled'],
  ];
  for (const [endpoint, field] of bad) {
    it(`rejects ${JSON.stringify(endpoint).slice(0, 120)}`, () =>
      assert.equal(ComputeCreation.safeParse(endpoint).error?.issues[0]?.path[0], field));
  }

  const messages = [
    [{ branch_id: 'main' }, 'must be a branch id: br- and then a-z, 0-9 or -'],
    [{ suspend_timeout_seconds: 59 }, 'must be 0 (default), -1 (never) or 60 to 604800 seconds'],
  ] as const;
  for (const [attribute, message] of messages) {
    it(`says what ${Object.keys(attribute).join('')} must be`, () =>
      assert.equal(
        ComputeCreation.safeParse({ ...creation, ...attribute }).error?.issues[0]?.message,
        message,
      ));
  }

  it('rejects unknown attributes', () => {
    assert.ok(!ComputeCreation.safeParse({ ...creation, size: 1 }).success);
    assert.ok(!ComputeCreationBody.safeParse({ endpoint: creation, more: 1 }).success);
  });
});

describe('ComputePatchBody', () => {
  it('accepts no changes, and another branch', () => {
    assert.deepEqual(ComputePatchBody.parse({ endpoint: {} }), { endpoint: {} });
    assert.deepEqual(ComputePatch.parse({ branch_id: 'br-x' }), { branch_id: 'br-x' });
  });

  it('rejects a type', () => assert.ok(!ComputePatch.safeParse({ type: 'read_only' }).success));
});

describe('ApiKeyCreationBody', () => {
  it('requires a name of 1 to 64 characters', () => {
    assert.deepEqual(ApiKeyCreationBody.parse({ key_name: 'c' }), { key_name: 'c' });
    for (const body of [{}, { key_name: '' }, { key_name: 'x'.repeat(65) }, { key_name: 1 }])
      assert.ok(!ApiKeyCreationBody.safeParse(body).success);
  });
});

describe('Names', () => {
  const schemas = {
    key: (name: string) => ApiKeyCreationBody.safeParse({ key_name: name }),
    compute: (name: string) => ComputePatch.safeParse({ name }),
    project: (name: string) => ProjectPatchBody.safeParse({ project: { name } }),
    branch: (name: string) => BranchPatchBody.safeParse({ branch: { name } }),
    preserved: (name: string) =>
      BranchRestoreBody.safeParse({ source_branch_id: 'br-a', preserve_under_name: name }),
    snapshot: (name: string) => SnapshotCreation.safeParse({ name }),
  };
  for (const [what, parse] of Object.entries(schemas))
    it(`of a ${what} have no control characters, and are not only spaces`, () => {
      for (const name of ['a b', 'é', '人', '👨‍👩‍👧', '.']) assert.ok(parse(name).success, name);
      for (const name of [' ', '\u3000', 'a\0', 'a\n', 'a\x7f', 'a\x85'])
        assert.match(
          String(parse(name).error?.issues[0]?.message),
          /no control characters and not only spaces$/,
        );
    });

  it('may be empty for what is not to be preserved', () => assert.ok(schemas.preserved('').success));
});

describe('Names of databases and roles', () => {
  const isAccepted = (name: string) =>
    DatabaseCreationBody.safeParse({ database: { name, owner_name: 'me' } }).success &&
    RoleCreationBody.safeParse({ role: { name } }).success;

  it('fit into a path, a connection URI and 63 bytes', () => {
    for (const name of ['...', '.a', 'a.b', `${'é'.repeat(31)}e`]) assert.ok(isAccepted(name), name);
    for (const name of ['', '.', '..', 'a\n', '\ud800', 'é'.repeat(32)]) assert.ok(!isAccepted(name), name);
  });
});

describe('ProjectCreationBody', () => {
  for (const field of ['provisioner', 'region_id'])
    it(`has a ${field} of 1 to 64 characters`, () => {
      const lengths = [0, 1, 64, 65].filter(
        (length) => ProjectCreationBody.safeParse({ project: { [field]: 'x'.repeat(length) } }).success,
      );
      assert.deepEqual(lengths, [1, 64]);
    });

  it('keeps the history for up to 30 days, and always the passwords', () => {
    const accepts = (project: object) => ProjectCreationBody.safeParse({ project }).success;
    const seconds = [-1, 0, 0.5, 2_592_000, 2_592_001];
    assert.deepEqual(
      seconds.filter((history_retention_seconds) => accepts({ history_retention_seconds })),
      [0, 2_592_000],
    );
    assert.deepEqual(
      [true, false].map((store_passwords) => accepts({ store_passwords })),
      [true, false],
    );
  });
});

describe('BranchCreationBody', () => {
  const accepts = (branch: object) => BranchCreationBody.safeParse({ branch }).success;

  it('has a name of 1 to 256 characters', () => {
    const lengths = [0, 1, 256, 257].filter((length) => accepts({ name: 'x'.repeat(length) }));
    assert.deepEqual(lengths, [1, 256]);
  });

  it('has times with a zone', () => {
    const times = ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00+01:00', '2026-01-31T12:00:00', '2026-01-31'];
    for (const field of ['expires_at', 'parent_timestamp'])
      assert.deepEqual(
        times.filter((time) => accepts({ [field]: time })),
        times.slice(0, 2),
      );
    const { error } = BranchCreationBody.safeParse({ branch: { expires_at: 'soon' } });
    assert.equal(error?.issues[0]?.message, 'must be a time such as 2026-01-31T12:00:00Z');
  });

  it('has computes without a branch id, because the branch has none yet', () => {
    const accepted = [{ type: 'read_write' }, creation].filter(
      (endpoint) => BranchCreationBody.safeParse({ endpoints: [endpoint] }).success,
    );
    assert.deepEqual(accepted, [{ type: 'read_write' }]);
  });

  it('has annotations of at most 4096 characters', () => {
    const problems = [4088, 4089].map((length) => {
      const result = BranchCreationBody.safeParse({ annotation_value: { k: 'x'.repeat(length) } });
      return result.error?.issues[0]?.message;
    });
    assert.deepEqual(problems, [undefined, 'must have at most 4096 characters as JSON']);
  });

  it('has at most 50 annotations', () => {
    const problems = [0, 50, 51].map((length) => {
      const annotations = Array.from({ length }, (_, index) => [`key${index}`, '']);
      const parsed = BranchCreationBody.safeParse({ annotation_value: Object.fromEntries(annotations) });
      return parsed.error?.issues[0]?.message;
    });
    assert.deepEqual(problems, [undefined, undefined, 'must have at most 50 properties']);
  });
});
