/**
 * Writes the URL of an agent's branch to an env file, without questions. So the file must be in the folder that the agent
 * runs in, git must ignore it, and a value of the user's is never replaced. The errors are for the agent.
 */
import { realpath } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { changeFile } from '../../base/changeFile.ts';
import { ignoreMissing, resolveFile, readUserFile, type FileProblem } from '../../base/files.ts';
import type { RunGit } from '../../base/git/runGit.ts';
import { applyReplacement, decodeText, getVariable, changeOfVariable } from '../envFile/dotEnv.ts';
import { parseDatabaseUrl } from '../../api/addresses/databaseUrl.ts';
import { readIgnoreState } from '../envFile/gitIgnored.ts';

interface AgentEnvRequest {
  /** The folder that the agent runs in. */
  readonly folder: string;
  /** The path of the file, absolute or relative to the folder. */
  readonly file: string;
  readonly variable: string;
  readonly runGit: RunGit;
  /** Whether a URL with this host is one that was written for an agent. */
  readonly isReplaceable: (host: string) => Promise<boolean>;
}

/** The variable of an env file that gets the URL of an agent's branch. */
export interface AgentEnvFile {
  /** The path with links resolved. */
  readonly path: string;
  readonly variable: string;
  /** The variable's value, a secret; empty if it has none. */
  readonly value: string;
  /** Writes the URL, after everything is checked again. @param url a secret. @throws {Error} with a message for the agent */
  readonly write: (url: string) => Promise<void>;
}

/**
 * Checks that the file can be written. Call this before the branch is created.
 * @throws {Error} with a message for the agent if the file can't be written
 */
export async function prepareAgentEnv(request: AgentEnvRequest): Promise<AgentEnvFile> {
  const { path: file, value } = await readReplaceableValue(request);
  return { path: file, variable: request.variable, value, write: (url) => writeUrl(request, url) };
}

/**
 * Writes a URL to the variable. All checks come first, so that the file can then be read and replaced at once. If the value has changed
 * by then, the checks are made again.
 */
async function writeUrl(request: AgentEnvRequest, url: string): Promise<void> {
  const { variable } = request;
  const { path: file, value } = await readReplaceableValue(request);
  let isChanged = false;
  const change = (bytes: Uint8Array | undefined): Uint8Array | undefined => {
    const text = decodeFile(request, bytes);
    const replacement = changeOfVariable(text, variable, url);
    const after = applyReplacement(text, () => replacement);
    isChanged = after !== text && valueInText(text, variable) !== value;
    if (isChanged) return undefined;
    if (replacement.isRequoted)
      throw new Error(`The value of ${variable} in ${request.file} can only be replaced as a whole.`);
    return Buffer.from(after);
  };
  await changeFile(file, change, 0o600);
  if (isChanged) await writeUrl(request, url);
}

/** Matches the names of files from which programs read variables, so that no other file gets a line at its end. */
const ENV_FILE = /^(?:\.env(?:rc|[.-][\w.-]+)?|[\w.-]+\.env|\.dev\.vars)$/i;
const VARIABLE = /^[A-Za-z_]\w{0,99}$/;

const PROBLEMS: Readonly<Record<FileProblem, string>> = {
  brokenLink: "is a link to a file that doesn't exist",
  outside: "isn't in the folder of the agent",
  noFile: "isn't a file",
  tooLarge: 'is too large',
  tooSlow: "couldn't be read in time",
  unreadable: "can't be read",
};

/**
 * Reads the value that would be replaced, and the path of its file with links resolved.
 * @throws {Error} with a message for the agent if the file must not be written, or the value is the user's
 */
async function readReplaceableValue(request: AgentEnvRequest) {
  const { file, variable, runGit } = request;
  if (!ENV_FILE.test(path.basename(file)))
    throw new Error(`${file} isn't the name of an env file, such as .env.`);
  if (!VARIABLE.test(variable))
    throw new Error(`${variable} isn't the name of a variable, such as DATABASE_URL.`);
  const real = await resolveInFolder(request);
  const ignored = await readIgnoreState(runGit, real);
  if (ignored === 'tracked')
    throw new Error(`${file} is part of the Git repository, so no password is written to it.`);
  if (ignored === 'notIgnored') throw new Error(`Git doesn't ignore ${file}. Add it to .gitignore first.`);
  if (ignored === 'unknown') throw new Error(`Couldn't check whether Git ignores ${file}.`);
  const { bytes, problem } = await readUserFile(real, [path.dirname(real)]);
  if (problem !== undefined) throw new Error(`${file} ${PROBLEMS[problem]}.`);
  const value = valueInText(decodeFile(request, bytes), variable);
  await requireReplaceable(request, value);
  return { path: real, value };
}

function decodeFile({ file }: AgentEnvRequest, bytes: Uint8Array | undefined): string {
  const text = bytes === undefined ? '' : decodeText(bytes);
  if (text === undefined) throw new Error(`${file} isn't UTF-8 text.`);
  return text;
}

const valueInText = (text: string, variable: string): string => getVariable(text, variable) ?? '';

/** @throws {Error} if the file isn't in the folder, perhaps because of a link */
async function resolveInFolder({ folder, file }: AgentEnvRequest): Promise<string> {
  const root = await realpath(folder);
  if (root === path.parse(root).root || root === (await realpath(os.homedir()).catch(ignoreMissing)))
    throw new Error(`The agent runs in ${root}, which isn't the folder of a project.`);
  const resolved = await resolveFile(path.resolve(root, file), [root]).catch(ignoreMissing);
  if (resolved === undefined) throw new Error(`The folder of ${file} doesn't exist.`);
  if (resolved.problem === 'outside') throw new Error(`${file} ${PROBLEMS.outside}, ${root}.`);
  if (resolved.problem !== undefined) throw new Error(`${file} ${PROBLEMS[resolved.problem]}.`);
  return resolved.path;
}

/**
 * Checks that the value may be replaced, as an empty one always may.
 * @throws {Error} with a message for the agent if the value is the user's
 */
async function requireReplaceable(request: AgentEnvRequest, value: string): Promise<void> {
  const { file, variable, isReplaceable } = request;
  const host = parseDatabaseUrl(value)?.host;
  if (value === '' || (host !== undefined && (await isReplaceable(host)))) return;
  throw new Error(
    `${variable} in ${file} has a value of the user, which is not replaced. Name another file or variable.`,
  );
}
