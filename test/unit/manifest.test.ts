/** The manifest against the code and against its texts. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { COMMANDS } from '../../src/ui/commands/table.ts';
import { TOOL_NAMES } from '../../src/ui/languageModel/parts.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): unknown => JSON.parse(readFileSync(path.join(root, file), 'utf8'));

interface Manifest {
  readonly icon: string;
  readonly capabilities: {
    readonly untrustedWorkspaces: {
      readonly supported: string;
      readonly restrictedConfigurations: readonly string[];
    };
    readonly virtualWorkspaces: boolean;
  };
  readonly contributes: {
    readonly commands: readonly {
      readonly command: string;
      readonly title: string;
      readonly category: string;
    }[];
    readonly menus: Readonly<
      Record<string, readonly { readonly command?: string; readonly when?: string }[]>
    >;
    readonly views: Readonly<Record<string, readonly { readonly id: string }[]>>;
    readonly keybindings: readonly {
      readonly args: { readonly commands: readonly [string, { readonly command: string }] };
      readonly when: string;
    }[];
    readonly languageModelTools: readonly {
      readonly name: string;
      readonly modelDescription: string;
      readonly inputSchema: { readonly required: readonly string[]; readonly properties: object };
    }[];
    readonly viewsWelcome: readonly { readonly when: string; readonly contents: string }[];
    readonly configuration: { readonly properties: Readonly<Record<string, { readonly scope: string }>> };
  };
}

const manifest = read('package.json') as Manifest;
const texts = read('package.nls.json') as Readonly<Record<string, string>>;
const { commands, menus, views, viewsWelcome, configuration, keybindings, languageModelTools } =
  manifest.contributes;
const declared = commands.map(({ command }) => command);

describe('The manifest', () => {
  it('declares exactly the commands there are', () => {
    assert.deepEqual(declared.toSorted(), Object.keys(COMMANDS).toSorted());
    assert.equal(new Set(declared).size, declared.length);
  });

  it('names every command in the same category', () => {
    assert.deepEqual(new Set(commands.map(({ category }) => category)), new Set(['%category%']));
  });

  it('offers in its menus only what there is', () => {
    const offered = Object.values(menus).flatMap((items) => items.flatMap(({ command }) => command ?? []));
    assert.deepEqual(
      offered.filter((command) => !declared.includes(command)),
      [],
    );
  });

  it('offers in its texts only what there is', () => {
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

  it('offers without an account only what works without one', () => {
    const palette = menus['commandPalette'] ?? [];
    const hidden = palette.filter(({ when = '' }) =>
      /^(false|hostedPostgres\.state != signedOut\b)/.test(when),
    );
    assert.deepEqual(hidden, palette, 'every condition begins with the account');
    const offered = declared.filter((command) => !hidden.some((item) => item.command === command));
    assert.deepEqual(offered.toSorted(), [
      'hostedPostgres.account.connect',
      'hostedPostgres.account.remove',
      'hostedPostgres.account.switch',
      'hostedPostgres.compute.openLink',
      'hostedPostgres.localService.start',
      'hostedPostgres.localService.stop',
      'hostedPostgres.log.show',
      'hostedPostgres.operations.show',
    ]);
  });

  it('binds keys to the row in focus of its own views, and to nothing else', () => {
    assert.ok(keybindings.length > 0);
    for (const { args, when } of keybindings) {
      const [select, { command }] = args.commands;
      assert.equal(select, 'list.select');
      assert.ok(declared.includes(command), command);
      assert.match(when, /^focusedView == hostedPostgres\.\w+ && listFocus && !inputFocus/);
    }
  });

  it('describes to a model exactly the tools there are', () => {
    const names = languageModelTools.map(({ name }) => name);
    assert.deepEqual(names.toSorted(), [...TOOL_NAMES].toSorted());
    for (const { inputSchema } of languageModelTools)
      for (const field of inputSchema.required)
        assert.ok(Object.hasOwn(inputSchema.properties, field), field);
  });

  it('drives welcome views by the state, and by what helps where that failed', () => {
    const help = String.raw` && hostedPostgres\.help [!=]= (newKey|organization)`;
    const obstacle = String.raw` && (!hostedPostgres\.obstacle|hostedPostgres\.obstacle == (address|certificate|silence|webPage|localServiceSilent|localServiceEnded))`;
    const states = `signedOut|loading|empty|ready|failed(${help})*(${obstacle})?`;
    const state = new RegExp(String.raw`^hostedPostgres\.state == (${states})$`);
    for (const { when } of viewsWelcome) assert.match(when, state);
  });

  it('never lets a workspace say where the key goes', () => {
    assert.equal(configuration.properties['hostedPostgres.baseUrl']?.scope, 'application');
  });

  it('uses no setting of a workspace that is not trusted', () => {
    const { untrustedWorkspaces, virtualWorkspaces } = manifest.capabilities;
    assert.equal(untrustedWorkspaces.supported, 'limited');
    assert.equal(virtualWorkspaces, true);
    const settable = Object.entries(configuration.properties)
      .filter(([, { scope }]) => scope !== 'application' && scope !== 'machine')
      .map(([setting]) => setting);
    assert.deepEqual(untrustedWorkspaces.restrictedConfigurations, settable);
  });

  it('offers what writes files or opens terminals only in a workspace that is trusted', () => {
    const folder = path.join(root, 'src/ui/commands');
    const guarded = readdirSync(folder).filter((file) =>
      /^ {2}requireTrust\(\);/m.test(readFileSync(path.join(folder, file), 'utf8')),
    );
    assert.deepEqual(guarded, ['psql.ts', 'writeEnv.ts']);
    const active = readdirSync(folder).filter((file) =>
      /createTerminal\(|new WorkspaceEdit\(|workspace\.fs\.write/.test(
        readFileSync(path.join(folder, file), 'utf8'),
      ),
    );
    assert.deepEqual(active, guarded);
    const offered = Object.values(menus)
      .flat()
      .filter(({ command = '' }) => /\.(openPsql|writeEnv)$/.test(command));
    assert.ok(offered.length >= 2);
    for (const { when = '' } of offered) assert.match(when, /\bisWorkspaceTrusted\b/);
  });

  it('uses every text it has, and has every text it uses', () => {
    const source = readFileSync(path.join(root, 'package.json'), 'utf8');
    const used = new Set([...source.matchAll(/"%([^%"]+)%"/g)].map(([, key = '']) => key));
    assert.deepEqual([...used].toSorted(), Object.keys(texts).toSorted());
  });

  it('names files that are there', () => {
    const source = readFileSync(path.join(root, 'package.json'), 'utf8');
    const files = [...source.matchAll(/"(media\/[^"]+)"/g)].map(([, file = '']) => file);
    assert.ok(files.length > 0);
    assert.deepEqual(
      files.filter((file) => !existsSync(path.join(root, file))),
      [],
    );
  });
});

describe('Texts of the code', () => {
  it('are whole where they are translated: no text is made of parts', () => {
    const files = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' });
    const wrong = files
      .filter((file) => file.endsWith('.ts'))
      .filter((file) => /l10n\.t\((?!\s*['{])/.test(readFileSync(path.join(root, 'src', file), 'utf8')));
    assert.deepEqual(wrong, []);
  });
});
