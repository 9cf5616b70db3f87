import assert from 'node:assert/strict';
import { MAX_OUTPUT } from '../../../../../src/extension/agents/outputText.ts';
import { callTool } from '../../../../helpers/callTool.ts';
import { connectScripted } from '../../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../../helpers/scriptedService.ts';
import { toolDependencies } from '../../../../helpers/toolDependencies.ts';

interface Listed {
  readonly projects: readonly {
    readonly projectId: string;
    readonly computes: readonly { readonly computeId: string }[];
    readonly computesLeftOut?: number;
    readonly problem?: string;
  }[];
  readonly projectsLeftOut?: number;
  readonly truncated?: boolean;
  readonly note?: string;
}

describe('listComputes', () => {
  let projects: unknown[];
  let computes: unknown[];
  let list: (input: object) => Promise<Listed>;

  beforeEach(async () => {
    const model = await connectScripted((call) =>
      call === 'GET /projects' ? { projects } : { endpoints: computes },
    );
    list = (input) => callTool(toolDependencies(model), 'listComputes', input) as Promise<Listed>;
  });

  it('returns a limited number of projects and computes, and how many were left out', async () => {
    projects = Array.from({ length: 60 }, (_, index) => ({ id: `p-${index}`, name: `p${index}` }));
    computes = Array.from({ length: 30 }, (_, index) =>
      computeRecord(`ep-${index}`, { name: 'x'.repeat(4000), settings: { pg_settings: {} } }),
    );
    const listed = await list({});
    assert.equal(listed.projects.length, 20);
    assert.equal(listed.projectsLeftOut, 40);
    for (const [project, count] of [
      ['p-7', 1],
      [' P7', 1],
      ['p5', 11],
      ['none', 0],
    ] as const)
      assert.equal((await list({ project })).projects.length, count, project);
    assert.deepEqual(
      listed.projects.slice(0, 5).map((project) => [project.computes.length, project.computesLeftOut]),
      [
        [11, 19],
        [0, 30],
        [0, 30],
        [0, 30],
        [0, 30],
      ],
    );
    assert.ok(JSON.stringify(listed).length <= MAX_OUTPUT);
    const { truncated, note } = await list({ project: 'p-7', skip: 20 });
    assert.deepEqual([truncated, note], [undefined, undefined]);
  });

  it('lists some computes, however long the names of the projects are', async () => {
    projects = Array.from({ length: 20 }, (_, index) => ({ id: `p-${index}`, name: 'ü'.repeat(500) }));
    computes = [computeRecord('ep-0')];
    const listed = await list({});
    assert.ok(Buffer.byteLength(JSON.stringify(listed)) <= MAX_OUTPUT);
    assert.equal(listed.projects[0]?.computes.length, 1);
    assert.equal(listed.projectsLeftOut, 20 - listed.projects.length);
    assert.equal(listed.note, 'Name a project to see others.');
  });

  it('returns all computes in several calls', async () => {
    projects = Array.from({ length: 3 }, (_, index) => ({ id: `p-${index}`, name: `p${index}` }));
    computes = Array.from({ length: 70 }, (_, index) => computeRecord(`ep-${index}`));
    const found: string[] = [];
    for (let note: string | undefined = 'skip to 0'; note !== undefined;) {
      const skip = Number(/skip to (\d+)/.exec(note)?.[1]);
      const listed: Listed = await list({ skip });
      assert.ok(JSON.stringify(listed).length <= MAX_OUTPUT);
      for (const { projectId, computes: some } of listed.projects)
        found.push(...some.map(({ computeId }) => `${projectId} ${computeId}`));
      assert.equal(listed.truncated, listed.note && true);
      note = listed.note;
    }
    assert.equal(found.length, 210);
    assert.equal(new Set(found).size, 210);
  });
});
