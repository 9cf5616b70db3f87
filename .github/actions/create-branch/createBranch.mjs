// The step of action.yml next to it. Needs only Node 20, which runners have.
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const REQUEST_LIMIT_MS = 60_000;
const OPERATIONS_LIMIT_MS = 600_000;
const PAUSE_MS = 500;

const env = process.env;
const texts = Object.entries(JSON.parse(env.INPUTS)).map(([name, value]) => [
  name,
  String(value ?? '').trim(),
]);
const inputs = Object.fromEntries(texts);

try {
  await main();
} catch (error) {
  // The cause of a failed fetch.
  const cause = error.cause === undefined ? '' : `: ${error.cause.message}`;
  print(`::error::${escape(error.message + cause)}`);
  process.exitCode = 1;
}

async function main() {
  checkInputs();
  const project = `/projects/${encodeURIComponent(inputs.project_id)}`;
  const { branch, created } = await findOrCreate(project);
  const address = `${project}/branches/${encodeURIComponent(branch.id)}`;
  const direct = await connectionUrl(project, branch.id, false);
  const pooled = await connectionUrl(project, branch.id, true);
  const database = encodeURIComponent(inputs.database);
  const auth = inputs.get_auth_url === 'true' && (await find(`${address}/auth`));
  const dataApi = inputs.get_data_api_url === 'true' && (await find(`${address}/data-api/${database}`));
  const outputs = {
    db_url: direct.href,
    db_url_pooled: pooled.href,
    db_host: direct.host,
    db_host_pooled: pooled.host,
    password: decodeURIComponent(direct.password),
    branch_id: branch.id,
    created,
    auth_url: auth?.base_url,
    data_api_url: dataApi?.url,
  };
  // Runners replace these in all logs by ***.
  for (const secret of new Set([outputs.password, direct.password])) print(`::add-mask::${escape(secret)}`);
  const values = Object.entries(outputs).filter(([, value]) => value !== undefined);
  appendFileSync(env.GITHUB_OUTPUT, values.map(([name, value]) => output(name, value)).join(''));
  print(`::notice::${escape(`The branch ${branch.name} ${created ? 'was created' : 'exists already'}.`)}`);
}

function checkInputs() {
  for (const name of ['api_key', 'project_id']) if (!inputs[name]) throw new Error(`${name} is missing.`);
  if (!/^https?:\/\/./.test(inputs.api_host)) throw new Error('api_host must be a URL with http or https.');
  oneOf('ssl', ['', 'require', 'verify-ca', 'verify-full', 'omit']);
  oneOf('branch_type', ['default', 'schema-only']);
  if (!/^-?\d+$/.test(inputs.suspend_timeout)) throw new Error('suspend_timeout must be a number.');
  if (inputs.masking_rules !== '' && !Array.isArray(parseRules()))
    throw new Error('masking_rules must be a JSON array.');
}

function oneOf(name, values) {
  if (!values.includes(inputs[name]))
    throw new Error(`${name} must be ${values.filter(Boolean).join(', ')}, not ${inputs[name]}.`);
}

function parseRules() {
  try {
    return JSON.parse(inputs.masking_rules);
  } catch {
    return undefined;
  }
}

async function findOrCreate(project) {
  const rules = inputs.masking_rules === '' ? [] : parseRules();
  // An id is no name: it would give what follows the data of any branch, such as a protected one.
  const existing = await findBranch(project, inputs.branch_name, ({ name }) => name);
  if (existing !== undefined) {
    if (rules.length > 0) throw new Error('masking_rules apply only to a new branch, and this one exists.');
    return { branch: existing, created: false };
  }
  const { parent_branch } = inputs;
  const parent =
    (await findBranch(project, parent_branch, ({ name }) => name)) ??
    (await findBranch(project, parent_branch, ({ id }) => id));
  if (inputs.parent_branch !== '' && parent === undefined)
    throw new Error(`There is no branch ${inputs.parent_branch} to be the parent.`);
  const creation = {
    branch: {
      name: inputs.branch_name || undefined,
      parent_id: parent?.id,
      init_source: inputs.branch_type === 'schema-only' ? 'schema-only' : undefined,
      expires_at: inputs.expires_at || undefined,
    },
    endpoints: [{ type: 'read_write', suspend_timeout_seconds: Number(inputs.suspend_timeout) }],
  };
  const annotation = { annotation_value: annotations() };
  const { branch, operations } =
    rules.length > 0
      ? await send('POST', `${project}/branch_anonymized`, {
          branch_create: creation,
          masking_rules: rules,
          start_anonymization: true,
          ...annotation,
        })
      : await send('POST', `${project}/branches`, { ...creation, ...annotation });
  await finish(project, operations ?? []);
  return { branch, created: true };
}

async function findBranch(project, text, textOf) {
  if (text === '') return undefined;
  const { branches } = await send(
    'GET',
    `${project}/branches?limit=10000&search=${encodeURIComponent(text)}`,
  );
  return branches.find((branch) => textOf(branch) === text);
}

/** What the service's console shows next to the branch. */
function annotations() {
  const values = {
    'github-commit-repo': env.GITHUB_REPOSITORY,
    'github-commit-author-login': env.GITHUB_ACTOR,
    'github-commit-sha': env.GITHUB_SHA,
    'github-commit-ref': env.GITHUB_HEAD_REF || env.GITHUB_REF,
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value));
}

/** The compute can't be used before its operations have ended. */
async function finish(project, operations) {
  const end = Date.now() + OPERATIONS_LIMIT_MS;
  for (const { id, action } of operations)
    for (;;) {
      const { operation } = await send('GET', `${project}/operations/${id}`);
      if (['finished', 'skipped'].includes(operation.status)) break;
      if (['failed', 'error', 'cancelled'].includes(operation.status))
        throw new Error(`${action} ended with ${operation.status}: ${operation.error ?? ''}`);
      if (Date.now() > end)
        throw new Error(`${action} hasn't ended in ${OPERATIONS_LIMIT_MS / 60_000} minutes.`);
      await delay(PAUSE_MS);
    }
}

async function connectionUrl(project, branchId, pooled) {
  const query = new URLSearchParams({
    branch_id: branchId,
    database_name: inputs.database,
    role_name: inputs.role,
    pooled,
  });
  const url = new URL((await send('GET', `${project}/connection_uri?${query}`)).uri);
  url.search = '';
  if (inputs.prisma === 'true') {
    url.searchParams.set('connect_timeout', '30');
    if (pooled) {
      url.searchParams.set('pool_timeout', '30');
      url.searchParams.set('pgbouncer', 'true');
    }
  }
  const ssl = inputs.ssl || (url.hostname === '127.0.0.1' ? 'omit' : 'require');
  if (ssl !== 'omit') url.searchParams.set('sslmode', ssl);
  return url;
}

/** Returns undefined if the branch doesn't have it. */
async function find(address) {
  try {
    return await send('GET', address);
  } catch (error) {
    if (error.status === 404) return undefined;
    throw error;
  }
}

/** Sends again while another change of the project locks it (423). */
async function send(method, address, body) {
  const end = Date.now() + REQUEST_LIMIT_MS;
  const payload = body && { body: JSON.stringify(body) };
  for (;;) {
    const reply = await fetch(inputs.api_host.replace(/\/+$/, '') + address, {
      method,
      headers: { authorization: `Bearer ${inputs.api_key}`, 'content-type': 'application/json' },
      ...payload,
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    const text = await reply.text();
    if (reply.ok) return JSON.parse(text);
    if (reply.status === 423 && Date.now() < end) {
      await delay(PAUSE_MS);
      continue;
    }
    const error = new Error(`${method} ${address.split('?')[0]}: ${reply.status} ${text}`);
    throw Object.assign(error, { status: reply.status });
  }
}

/** With an end that no value has, so that a value with several lines is no other output. */
function output(name, value) {
  const end = `end-${randomUUID()}`;
  return `${name}<<${end}\n${value}\n${end}\n`;
}

/** As commands of a workflow need it. A text of the service in a line of its own could be another command. */
function escape(text) {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
