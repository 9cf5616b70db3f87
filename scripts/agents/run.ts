// Runs the clients of docs/agents.md, in the versions that its table names, without a user: each with the configuration that is
// copied, and with what the table names for unattended use. A model on loopback calls each of our tools. Fails if a client calls other
// tools than the table says, if a call fails, if the model doesn't receive all rows of a long result, or if a hook that is copied
// doesn't mark one moment before a turn.
//   node scripts/agents/run.ts FOLDER FOR THEIR PACKAGES [CLIENT…]
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fieldsOf } from '../../src/base/fieldsOf.ts';
import {
  AGENT_APPROVALS,
  AGENT_HOOKS,
  MCP_CLIENTS,
  TERMINAL_TARGET,
  type ClientFormat,
} from '../../src/extension/agents/clientFormats.ts';
import { startAgent } from '../../test/helpers/agent.ts';
import { branchCalls, emptyAccount } from '../../test/helpers/branchCalls.ts';
import { builtMcp } from '../../test/helpers/builtMcp.ts';
import { readText } from '../../test/helpers/projectFiles.ts';
import { startLocalService, temporaryFolder } from '../../test/helpers/localService.ts';
import { callsOf, type Ids } from './calls.ts';
import { AGENT_CLIENTS, type AgentClient } from './clients.ts';
import { startModel, type ToolCall } from './model.ts';

/** Milliseconds. */
const LIMIT = 10 * 60_000;
const [packages = '', ...labels] = process.argv.slice(2);
const tableText = readText('docs/agents.md');
const clients = AGENT_CLIENTS.filter(({ label }) => labels.length === 0 || labels.includes(label));

mkdirSync(packages, { recursive: true });
const manifest = path.join(packages, 'package.json');
if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true }');
const pinned = clients.map((client) => `${client.package}@${rowOf(client).version}`);
execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', ...pinned], { cwd: packages });

const programs = path.resolve(packages, 'node_modules/.bin');
const script = path.join(await builtMcp(), 'dist', 'mcp.js');
const dataDir = temporaryFolder();
const service = await startLocalService({ dataDir, args: emptyAccount() });
try {
  const created = await branchCalls(service).change('POST', '', { project: { name: 'Shop' } });
  const { project, branch, endpoints } = created;
  const ids = { projectId: project.id, branchId: branch.id, computeId: endpoints[0]?.id ?? '' };
  for (const client of clients) await check(client, ids);
} finally {
  await service.stop();
}

/** What the table says. */
function rowOf({ label }: AgentClient): { version: string; tools: number } {
  const row = tableText.split('\n').find((line) => line.startsWith(`| ${label} `));
  const [, , version = '', , tools = ''] = (row ?? '').split('|').map((cell) => cell.trim());
  assert.match(tools, /^\d+$/, `docs/agents.md has no ${label}`);
  return { version, tools: Number(tools) };
}

async function check(client: AgentClient, ids: Ids): Promise<void> {
  const calls = callsOf(ids, client.adds);
  const copied = await run(client, ids, false);
  const unattended = await run(client, ids, true);
  const tools = new Set(copied.called);
  console.log(`${client.label}: ${tools.size} tools as copied: ${[...tools].join(', ')}`);
  console.log(
    `${client.label}: ${unattended.called.length} calls unattended, answered: ${unattended.answers}`,
  );
  console.log(`${client.label}: ${unattended.long.length} rows sent, unseen: ${unattended.unseen.length}`);
  assert.equal(tools.size, rowOf(client).tools, client.label);
  assert.deepEqual(
    unattended.called,
    calls.map(({ tool }) => tool),
    client.label,
  );
  assert.deepEqual(unattended.failed, [], client.label);
  assert.equal(unattended.answers, calls.length, client.label);
  assert.ok(unattended.long.length > 1, client.label);
  assert.deepEqual(unattended.unseen, [], client.label);
  const hook = AGENT_HOOKS.find(({ label }) => label.includes(client.label));
  if (hook === undefined) return;
  const marks = await marksOf(client, hook);
  console.log(`${client.label}: its hook marked ${String(marks)}`);
  assert.deepEqual(marks, [client.label.toLowerCase().replace(' ', '-')]);
}

async function run(client: AgentClient, ids: Ids, isUnattended: boolean) {
  const { home, work, model, env } = await prepare(client, callsOf(ids, client.adds));
  const launcher = path.join(home, 'hosted-postgres-mcp');
  const log = (name: string) => path.join(home, `${name}.log`);
  const server = `'${process.execPath}' '${script}' --data-dir '${dataDir}'`;
  const line = `tee -a '${log('requests')}' | ${server} | tee -a '${log('replies')}'`;
  writeFileSync(launcher, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  const format = MCP_CLIENTS.find(({ label }) => label === client.label);
  assert.ok(format !== undefined);
  configure((isUnattended && format.unattended) || format, launcher, env, work);
  const approval = AGENT_APPROVALS.find(({ label }) => label === client.label);
  if (isUnattended && approval) configure(approval, launcher, env, work);
  const more = isUnattended ? (client.unattended ?? []) : [];
  const output = await outputOf([...client.command, ...more], env, work);
  model.stop();
  const results = resultsIn(readMessages(log('requests')), readMessages(log('replies')));
  assert.match(output, /\bDone\./, `${client.label}: ${output}`);
  const unseen = results.long.filter((value) => model.answers.at(-1)?.includes(value) !== true);
  return { ...results, answers: model.answers.length, unseen };
}

/** Makes a home folder in which the client asks a model for `calls`, and a repository in it. */
async function prepare(client: AgentClient, calls: readonly ToolCall[]) {
  const home = temporaryFolder();
  const work = path.join(home, 'work');
  execFileSync('git', ['init', '--quiet', work]);
  const model = await startModel(calls);
  const env = {
    HOME: home,
    PATH: [programs, path.dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    ...client.env?.(model.url),
  };
  if (client.file) write(path.join(home, client.file.name), client.file.text(model.url));
  return { home, work, model, env };
}

/** Runs a turn with the hook that is copied. @returns the moments that it has marked on the branch of the folder */
async function marksOf(client: AgentClient, hook: ClientFormat): Promise<readonly string[]> {
  const { home, work, model, env } = await prepare(client, []);
  const launcher = path.join(home, 'hosted-postgres-mcp');
  const line = `HOSTED_POSTGRES_DATA_DIR='${dataDir}' exec '${process.execPath}' '${script}' "$@"`;
  writeFileSync(launcher, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  const args = [script, '--data-dir', dataDir];
  const agent = await startAgent({ name: 'played', command: process.execPath, args, cwd: work });
  const { projectId, branchId } = await agent.call('createBranch', { hours: 1 });
  configure(hook, launcher, env, work);
  const output = await outputOf([...client.command, ...(client.hookOptions ?? [])], env, work);
  model.stop();
  const { moments } = await agent.call('undo', { projectId, branchId });
  await agent.call('deleteBranch', { projectId, branchId });
  await agent.stop();
  assert.match(output, /\bDone\./, `${client.label}: ${output}`);
  return JSON.stringify(moments).match(/[\w -]+(?=: its turn)/g) ?? [];
}

function configure(
  { target, text }: Pick<ClientFormat, 'target' | 'text'>,
  launcher: string,
  env: Readonly<Record<string, string>>,
  work: string,
): void {
  const copied = text({ command: launcher, args: [] });
  if (target !== TERMINAL_TARGET) {
    write(path.resolve(work, target.replace('~', path.dirname(work))), copied);
    return;
  }
  const { status, stdout, stderr } = spawnSync('sh', ['-c', copied], { cwd: work, env, encoding: 'utf8' });
  assert.equal(status, 0, `${copied}\n${stdout}${stderr}`);
}

/** Appends. */
function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  writeFileSync(file, before + text);
}

async function outputOf(
  command: readonly string[],
  env: Record<string, string>,
  cwd: string,
): Promise<string> {
  const [program = '', ...args] = command;
  const child = spawn(path.join(programs, program), args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)));
  await new Promise((resolve) => child.once('close', resolve));
  return output;
}

type Message = Readonly<Record<string, unknown>>;

/** What has passed between a client and our server. */
function readMessages(file: string): readonly Message[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => fieldsOf(JSON.parse(line)));
}

function resultsIn(requests: readonly Message[], replies: readonly Message[]) {
  const calls = requests.filter(({ method }) => method === 'tools/call');
  const nameOf = ({ params }: Message) => String(fieldsOf(params)['name']);
  const replyTo = (call?: Message) => replies.find(({ id }) => id === call?.['id']);
  const failed = calls.flatMap((call) => {
    const reply = replyTo(call);
    const { isError, content } = fieldsOf(reply?.['result']);
    const isFailure = reply?.['result'] === undefined || isError === true;
    return isFailure ? [`${nameOf(call)}: ${JSON.stringify(content ?? reply)}`] : [];
  });
  const { rows } = fieldsOf(fieldsOf(replyTo(calls.at(-1))?.['result'])['structuredContent']);
  const long = Array.isArray(rows) ? rows.map((row) => String(row[0])) : [];
  return { called: calls.map(nameOf), failed, long };
}
