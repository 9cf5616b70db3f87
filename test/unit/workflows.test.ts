/** The workflows of GitHub Actions, which only run there. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { load } from 'js-yaml';
import { readText } from '../helpers/projectFiles.ts';
import { projectRoot } from '../workbench/folders.ts';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly environment?: string;
  readonly uses?: string;
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly permissions?: object;
  readonly concurrency?: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

const folder = '.github/workflows';
const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(readText('package.json'));

/** Rights that a job may have, next to reading the repository. */
const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  attest: ['attestations: write', 'id-token: write'],
  marketplace: ['contents: read', 'id-token: write'],
  'open-vsx': ['contents: read', 'id-token: write'],
  npm: ['id-token: write'],
  github: ['contents: write'],
};

/** Loads the linter of GitHub's own editor extension. It is made for bundlers, which load JSON without an attribute. */
async function loadLinter() {
  const hooks = registerHooks({
    load: (url, context, next) =>
      next(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context),
  });
  try {
    return await import('@actions/languageservice');
  } finally {
    hooks.deregister();
  }
}

/** The problems that the linter finds in a file with this path, which names its kind. It keeps what it has parsed, by the path. */
async function lint(file: string, content: string): Promise<readonly string[]> {
  const { validate } = await loadLinter();
  const found = await validate(TextDocument.create(`file:///${file}`, 'yaml', 0, content));
  return found.map(({ message, range }) => `${range.start.line + 1}: ${JSON.stringify(message)}`);
}

for (const name of readdirSync(path.join(projectRoot, folder))) {
  describe(`The workflow ${name}`, () => {
    const text = readText(`${folder}/${name}`);
    const workflow = load(text) as Workflow;
    const jobs = Object.entries(workflow.jobs);
    const steps = jobs.flatMap(([, job]) => job.steps ?? []);

    it('has no error that the linter of GitHub finds', async () => {
      const problems = await lint(`${folder}/${name}`, text);
      assert.deepEqual(problems, [], problems.join('\n'));
      const broken = await lint(`${folder}/broken-${name}`, text.replace('concurrency:', 'concurency:'));
      assert.match(broken.join('\n'), /Unexpected value .concurency./);
    });

    it('uses no stored secret', () => assert.doesNotMatch(text, /\bsecrets\s*[.[:]/));

    it('gives each job only the rights that it needs', () => {
      assert.deepEqual(workflow.permissions, {});
      for (const [id, { permissions = {} }] of jobs) {
        const given = Object.entries(permissions).map(([right, level]) => `${right}: ${level}`);
        assert.deepEqual(given.toSorted(), RIGHTS[id] ?? ['contents: read'], id);
      }
    });

    it('runs no code of dependencies in a job that can prove an identity, but the publishing tools', () => {
      for (const [id, job] of jobs.filter(([, { permissions }]) => permissions?.['id-token'] === 'write')) {
        const commands = (job.steps ?? []).flatMap(({ run }) => run ?? []);
        const installs = commands.filter((command) =>
          /\bnpm (ci|install|run|test|exec)\b|\bnpx\b/.test(command),
        );
        const tools = 'npm ci --ignore-scripts --prefix .github/release';
        assert.deepEqual(
          installs.filter((command) => command !== tools),
          [],
          id,
        );
      }
    });

    it('pins each action to a commit, and names its version', () => {
      const used = [...text.matchAll(/\buses: (.+)/g)].map(([, action = '']) => action);
      assert.ok(used.length > 0);
      const actions = used.filter((action) => !action.startsWith('./'));
      assert.deepEqual(
        actions.filter((action) => !/^[\w/-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(action)),
        [],
      );
      // The same action has the same version everywhere.
      const versions = new Set(actions);
      assert.equal(new Set(actions.map((action) => action.split('@')[0])).size, versions.size);
    });

    it('leaves no token in the checkout', () => {
      const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
      for (const step of checkouts) assert.equal(step.with?.['persist-credentials'], false);
    });

    it('ends, and does not run twice for the same tag or branch', () => {
      assert.ok(workflow.concurrency);
      for (const [id, job] of jobs)
        if (job.uses === undefined) assert.ok((job['timeout-minutes'] ?? 0) > 0, id);
    });

    it('names only npm scripts and files that exist', () => {
      const commands = steps.flatMap(({ run }) => run ?? []).join('\n');
      const named = [...commands.matchAll(/\bnpm (?:run )?([\w:]+)/g)].map(([, script = '']) => script);
      const known = ['ci', 'sbom', 'view', 'publish', ...Object.keys(scripts)];
      assert.deepEqual(
        named.filter((script) => !known.includes(script)),
        [],
      );
      const files = [...commands.matchAll(/[\w./-]+\.(?:ts|mjs)\b/g)].map(([file]) => file);
      assert.deepEqual(
        files.filter((file) => !existsSync(path.join(projectRoot, file))),
        [],
      );
    });

    it('puts no text of other people into a script', () => {
      // An expression in a script is code. Values go through the environment.
      const scriptsWithExpressions = steps.filter(({ run }) => run?.includes('${{'));
      assert.deepEqual(scriptsWithExpressions, []);
    });
  });
}

describe('The actions', () => {
  for (const name of ['create-branch', 'rehearse']) {
    const file = `.github/actions/${name}/action.yml`;

    it(`${name} has no error that the linter of GitHub finds`, async () => {
      const text = readText(file);
      const problems = await lint(file, text);
      assert.deepEqual(problems, [], problems.join('\n'));
      const broken = await lint(`broken/${file}`, text.replace('shell:', 'shel:'));
      assert.match(broken.join('\n'), /Unexpected value .shel./);
    });
  }
});

describe('The tools that publish', () => {
  const lock: {
    packages: Record<
      string,
      { integrity?: string; resolved?: string; dependencies?: Record<string, string> }
    >;
  } = JSON.parse(readText('.github/release/package-lock.json'));

  it('are locked by content, without the address of a registry', () => {
    const { '': own, ...packages } = lock.packages;
    assert.deepEqual(Object.keys(own?.dependencies ?? {}), ['@vscode/vsce', 'ovsx']);
    for (const version of Object.values(own?.dependencies ?? {})) assert.match(version, /^\d+\.\d+\.\d+$/);
    for (const [name, { integrity, resolved }] of Object.entries(packages)) {
      assert.match(integrity ?? '', /^sha512-/, name);
      assert.equal(resolved, undefined, name);
    }
  });
});
