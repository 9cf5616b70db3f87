/**
 * Commands for `inputs` of the type `command` in tasks.json and launch.json. If the arguments name the compute, they ask
 * only for a role and a database that are neither known nor listed by the service.
 */
import { l10n } from 'vscode';
import { isId } from '../../../api/records/ids.ts';
import type { Compute } from '../../../api/records/records.ts';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import { connectionString } from '../connectionStrings.ts';
import { pooledHost } from '../../../api/addresses/host.ts';
import type { Login } from '../connectionDefaults.ts';
import { isServiceName } from '../serviceFile.ts';
import { sanitize } from '../../../base/sanitize.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { defaultServiceName, saveService } from './addService.ts';
import { computeHost } from '../branchLogin.ts';
import { pickComputeRecord } from './copyHost.ts';
import { proposedOrChosenLogin } from './login.ts';

type InputArguments = ReturnType<typeof readArguments>;

export const hostForInput: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't find the host");
  const args = readArguments(argument);
  const compute = await findOrPickCompute(context, l10n.t('Host'), args);
  return compute && computeHost(compute, isPooled(compute, args));
};

/** Returns a connection string without a password. */
export const urlForInput: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't find the connection string");
  const found = await findConnection(context, l10n.t('Connection String'), readArguments(argument));
  return found && connectionString({ ...found.login, host: computeHost(found.compute, found.login.pooled) });
};

/** Returns the name of a service, and adds the service to pg_service.conf if it is missing. */
export const serviceForInput: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't add the service entry");
  const args = readArguments(argument);
  const found = await findConnection(context, l10n.t('Add to pg_service.conf'), args);
  if (found === undefined) return undefined;
  const name = args.service ?? defaultServiceName(context, found.compute);
  if (!isServiceName(name))
    throw new Error(
      l10n.t(
        "{0} isn't a valid service name. Use only letters, digits, dots, hyphens and underscores.",
        sanitize(name),
      ),
    );
  return (await saveService(name, found.compute, found.login)) ? name : undefined;
};

/** Reads the `args` of the input, and ignores unknown ones. */
function readArguments(argument: unknown) {
  const values = fieldsOf(argument);
  const textValue = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  return {
    /** The id or name of a project. */
    project: textValue('project'),
    /** The id or name of a compute. */
    compute: textValue('compute'),
    role: textValue('role'),
    database: textValue('database'),
    pooled: values['pooled'] === true,
    /** The name of the service. */
    service: textValue('service'),
  };
}

const isPooled = (compute: Compute, { pooled }: InputArguments): boolean =>
  pooled && pooledHost(compute) !== undefined;

/** Returns undefined if the user canceled. @throws {Error} for a name that doesn't exist or isn't unique */
async function findOrPickCompute(
  context: CommandContext,
  title: string,
  { project, compute }: InputArguments,
): Promise<Compute | undefined> {
  // A task may run before the account is known.
  await context.session.whenRead();
  context.session.requireConnection();
  return compute === undefined
    ? await pickComputeRecord(context, title, undefined)
    : await findCompute(context, compute, project);
}

/** @param compute name or id. @param project undefined to search all projects */
async function findCompute(
  context: CommandContext,
  compute: string,
  project: string | undefined,
): Promise<Compute> {
  const { inventory } = context;
  // An id is unique, so a compute that is loaded needs no further requests.
  const known = [...inventory.allComputes()].find(({ id }) => id === compute);
  if (project === undefined && known !== undefined) return known;
  const projectIds =
    project === undefined ? await allProjects(context) : [await findProject(context, project)];
  const [place, name] = [sanitize(project ?? ''), sanitize(compute)];
  const ambiguous =
    project === undefined
      ? l10n.t('Several computes are named {0}. Use the id.', name)
      : l10n.t('Several computes of {0} are named {1}. Use the id.', place, name);
  const missing =
    project === undefined
      ? l10n.t('There is no compute {0}.', name)
      : l10n.t('{0} has no compute {1}.', place, name);
  const find = () => {
    const lists = projectIds.map((id) => [...(inventory.computesOf(id)?.computes.values() ?? [])]);
    return findByIdOrName(lists.flat(), compute, ambiguous);
  };
  // A failure is reported only if the compute isn't in any other list.
  await inventory.loadComputesOf(projectIds).catch(() => undefined);
  const loaded = find();
  if (loaded !== undefined) return loaded;
  // The compute may be newer than the loaded lists.
  let failure: unknown = new Error(missing);
  await inventory.refreshComputesOf(projectIds).catch((error: unknown) => (failure = error));
  const found = find();
  if (found === undefined) throw failure;
  return found;
}

async function allProjects({ inventory }: CommandContext): Promise<readonly string[]> {
  await inventory.projects?.load();
  return [...(inventory.projects?.entries.keys() ?? [])];
}

/** @param project name or id, which may be of a project that isn't in the account's list */
async function findProject({ inventory }: CommandContext, project: string): Promise<string> {
  if (inventory.projects?.entries.has(project) === true) return project;
  await inventory.projects?.load();
  const entries = [...(inventory.projects?.entries.values() ?? [])];
  const projects = entries.map(({ id, record }) => ({ id, name: record?.name }));
  const text = l10n.t('Several projects are named {0}. Use the id.', sanitize(project));
  const found = findByIdOrName(projects, project, text);
  if (found === undefined && !isId(project))
    throw new Error(l10n.t('There is no project {0}.', sanitize(project)));
  return found?.id ?? project;
}

/** @param ambiguous the error if several have this name */
function findByIdOrName<Item extends { readonly id: string; readonly name?: string | null | undefined }>(
  items: readonly Item[],
  idOrName: string,
  ambiguous: string,
): Item | undefined {
  const withId = items.find(({ id }) => id === idOrName);
  if (withId !== undefined) return withId;
  const [found, duplicate] = items.filter(({ name }) => name === idOrName);
  if (duplicate !== undefined) throw new Error(ambiguous);
  return found;
}

/** Returns undefined if the user canceled. */
async function findConnection(
  context: CommandContext,
  title: string,
  args: InputArguments,
): Promise<{ readonly compute: Compute; readonly login: Login } | undefined> {
  const compute = await findOrPickCompute(context, title, args);
  if (compute === undefined) return undefined;
  const pooled = isPooled(compute, args);
  const { role, database } = args;
  if (role !== undefined && database !== undefined) return { compute, login: { role, database, pooled } };
  const takesFirst = args.compute !== undefined;
  const request = { title, compute, scope: undefined, allowsPooled: false, takesFirst };
  const known = await proposedOrChosenLogin(context, request);
  return (
    known && {
      compute,
      login: { role: role ?? known.role, database: database ?? known.database, pooled },
    }
  );
}
