/** The manifest against the code and against its texts. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { ContextKeys } from '../../src/extension/commandTable/when.ts';
import { AGENT_TOOLS } from '../../src/extension/agents/tools/toolTable.ts';
import { projectFiles, readText } from '../helpers/projectFiles.ts';
import { projectRoot } from '../workbench/folders.ts';
import lock from '../../package-lock.json' with { type: 'json' };
import manifest from '../../package.json' with { type: 'json' };
import german from '../../package.nls.de.json' with { type: 'json' };
import texts from '../../package.nls.json' with { type: 'json' };

const { commands, views, configuration, languageModelTools } = manifest.contributes;
const menus: Readonly<Record<string, readonly { readonly command?: string; readonly when?: string }[]>> =
  manifest.contributes.menus;
const properties: Readonly<Record<string, { readonly scope: string }>> = configuration.properties;
const declared = commands.map(({ command }) => command);

describe('The manifest', () => {
  it('runs the extension where the workspace is, and needs Node', () => {
    assert.deepEqual(manifest.extensionKind, ['workspace']);
    assert.ok(!('browser' in manifest));
  });

  it("keeps VS Code from forwarding the local service's ports, and no others", () => {
    const [[pattern, attributes] = ['', {}], ...others] = Object.entries(
      manifest.contributes.configurationDefaults['remote.portsAttributes'],
    );
    assert.deepEqual(others, []);
    assert.deepEqual(attributes, { onAutoForward: 'ignore' });
    const isIgnored = (...command: string[]) => new RegExp(pattern).test(command.join('\0'));
    const extension = '/home/me/.vscode-server/extensions/hosted-postgres.hosted-postgres-1.0.0/dist';
    const data =
      '/home/me/.vscode-server/data/User/globalStorage/hosted-postgres.hosted-postgres/local-service';
    assert.ok(isIgnored('node', `${extension}/service.js`, '--port', '0'));
    assert.ok(isIgnored('pgbouncer', `${data}/postgres/poolers/ep-a-1/pgbouncer.ini`));
    assert.ok(isIgnored('pgbouncer', '/var/lib/hosted-postgres/0a1b/poolers/ep-a-1/pgbouncer.ini'));
    assert.ok(!isIgnored('node', '/home/me/hosted-postgres/server.js'));
    assert.ok(!isIgnored('pgbouncer', '/etc/pgbouncer/pgbouncer.ini'));
    assert.ok(!isIgnored('/usr/lib/postgresql/17/bin/postgres', '-D', '/var/lib/postgresql/17/main'));
  });

  it('links only declared commands in its texts', () => {
    const offered = Object.values(texts).flatMap((text) =>
      [...text.matchAll(/\(command:(hostedPostgres[^)?]*)/g)].map(([, command = '']) => command),
    );
    assert.ok(offered.length > 0);
    const focus = Object.values(views).flatMap((each) => each.map(({ id }) => `${id}.focus`));
    assert.deepEqual(
      offered.filter((command) => !declared.includes(command) && !focus.includes(command)),
      [],
    );
  });

  it('has the tools of the table of tools', () => {
    const names = languageModelTools.map(({ name }) => name.replace('hostedPostgres_', ''));
    assert.deepEqual(names.toSorted(), Object.keys(AGENT_TOOLS).toSorted());
  });

  it('describes each skill where agents look for it', () => {
    assert.ok(manifest.contributes.chatSkills.length > 0);
    for (const { path: file } of manifest.contributes.chatSkills) {
      const [, name, description = ''] =
        /^---\nname: ([a-z\d-]{1,64})\ndescription: (.+)\n---\n\n#/.exec(readText(file)) ?? [];
      assert.equal(name, path.basename(path.dirname(file)));
      assert.ok(description.length <= 1024 && !description.includes(': '), 'YAML without quotes');
    }
  });

  it('uses only the context keys that the code sets', () => {
    const source = readText('package.json');
    const clauses = [...source.matchAll(/"(?:when|enablement)": "([^"]*)"|"onContext:([^"]*)"/g)];
    const keys = clauses.flatMap(([, when = '', context = '']) =>
      [...`${when} ${context}`.matchAll(/(?<!== )\bhostedPostgres\.(\w+)/g)].map(([, key]) => key),
    );
    const set: readonly (keyof ContextKeys)[] = [
      'branchesNotOffered',
      'followsGit',
      'hasConsole',
      'localServiceRuns',
      'localServiceStopped',
      'mcpInUse',
      'namesFirst',
      'snapshotsNotOffered',
      'startNotOffered',
      'state',
    ];
    assert.deepEqual(new Set(keys), new Set(set));
  });

  it('offers changes of branches, roles and projects only if the service has branches', () => {
    const { commandPalette = [], 'view/title': title = [] } = menus;
    const changing = [...commandPalette, ...title].filter(({ command = '' }) =>
      /\.(branch|project|role)\.(?!mark)/.test(command),
    );
    assert.ok(changing.length > 0);
    for (const { command, when } of changing)
      assert.match(when ?? '', / && !hostedPostgres\.branchesNotOffered$/, command);
  });

  it('does not let a workspace set the base URL, or remove a mark', () => {
    assert.equal(properties['hostedPostgres.marks']?.scope, 'application');
    assert.equal(properties['hostedPostgres.baseUrl']?.scope, 'application');
  });

  it('ignores the settings of an untrusted workspace', () => {
    const { untrustedWorkspaces, virtualWorkspaces } = manifest.capabilities;
    assert.equal(untrustedWorkspaces.supported, 'limited');
    assert.equal(virtualWorkspaces, true);
    const settable = Object.entries(properties)
      .filter(([, { scope }]) => scope !== 'application' && scope !== 'machine')
      .map(([setting]) => setting);
    assert.deepEqual(untrustedWorkspaces.restrictedConfigurations, settable);
  });

  it('writes files and opens terminals only in a trusted workspace', () => {
    const files = projectFiles('src/extension', '.ts').filter((file) =>
      /\/commands\/|\/envFile\/ui\//.test(file),
    );
    const guarded = files.filter((file) => /^ {2}requireTrust\(\);/m.test(readText(file)));
    const names = (paths: readonly string[]) => paths.map((file) => path.basename(file)).toSorted();
    assert.deepEqual(names(guarded), [
      'addService.ts',
      'envFile.ts',
      'fileChange.ts',
      'gitFolder.ts',
      'insertPassword.ts',
      'psql.ts',
      'rehearseMigration.ts',
      'runSqlFile.ts',
      'tidyUp.ts',
      'writeEnv.ts',
    ]);
    const active = files.filter((file) =>
      /create(?:T|Pseudot)erminal\(|new WorkspaceEdit\(|workspace\.fs\.(?:write|delete)|\b(?:writeFile|replaceFile)\(/.test(
        readText(file),
      ),
    );
    // Write DATABASE_URL to .env checks before its questions, and the file that writes for it does again.
    assert.deepEqual(names(active), ['addService.ts', 'fileChange.ts', 'psql.ts', 'runSqlFile.ts']);
    const offered = Object.values(menus)
      .flat()
      .filter(({ command = '' }) => /\.(addService|openPsql|sql\.run|writeEnv)$/.test(command));
    assert.ok(offered.length >= 2);
    for (const { when = '' } of offered) assert.match(when, /\bisWorkspaceTrusted\b/);
  });

  it('uses exactly the texts of package.nls.json', () => {
    const source = readText('package.json');
    const used = new Set([...source.matchAll(/"%([^%"]+)%"/g)].map(([, key = '']) => key));
    assert.deepEqual([...used].toSorted(), Object.keys(texts).toSorted());
  });

  it('has an ellipsis in the title of each command that asks before it acts, in both languages', () => {
    const endsOpen = (titles: Readonly<Record<string, string>>) =>
      Object.keys(titles).filter((key) => key.startsWith('command.') && titles[key]?.endsWith('…'));
    assert.deepEqual(endsOpen(german), endsOpen(texts));
    const destructive = declared.filter((id) =>
      /\.(?:delete|deleteBranches|disconnect|remove|reset|resetPassword|restore|revoke|stop|unprotect)$/.test(
        id,
      ),
    );
    assert.ok(destructive.length >= 10);
    for (const id of [...destructive, 'hostedPostgres.branch.setDefault'])
      assert.ok(endsOpen(texts).includes(id.replace('hostedPostgres', 'command')), id);
  });

  it('has what the Marketplace shows', () => {
    const { categories, keywords, galleryBanner, pricing, qna } = manifest;
    assert.deepEqual([pricing, qna], ['Free', 'marketplace']);
    assert.deepEqual(categories, ['Other', 'AI']);
    // The Marketplace rejects more keywords.
    assert.ok(keywords.length <= 30 && new Set(keywords).size === keywords.length);
    assert.match(galleryBanner.color, /^#[\da-f]{6}$/);
    assert.equal(galleryBanner.theme, 'dark');
  });

  it('has the version of package-lock.json', () => {
    assert.deepEqual([lock.version, lock.packages['']?.version], [manifest.version, manifest.version]);
  });

  it('names existing files', () => {
    const source = readText('package.json');
    const files = [...source.matchAll(/"(?:\.\/)?(media\/[^"]+)"/g)].map(([, file = '']) => file);
    assert.ok(files.length > 0);
    assert.deepEqual(
      files.filter((file) => !existsSync(path.join(projectRoot, file))),
      [],
    );
  });
});
