/** Writes a comment on the pull request of a run of GitHub Actions. Later runs of the same rehearsal change that comment. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fieldsOf } from '../base/fieldsOf.ts';

const PER_PAGE = 100;
/** The most characters of a comment. GitHub's own limit is 65,536. */
const MAX_BODY = 60_000;

/** What GitHub sets in the environment of a run. */
interface GitHubRun {
  readonly GITHUB_API_URL?: string | undefined;
  readonly GITHUB_REPOSITORY?: string | undefined;
  /** The file with the event that has started the run. */
  readonly GITHUB_EVENT_PATH?: string | undefined;
}

/**
 * Writes the text as a comment of the run's pull request, in place of an earlier one.
 * @param rehearsed what was rehearsed, by which the comment is found again
 * @returns why the comment couldn't be written; undefined if it was written
 */
export async function writeGitHubComment(
  { GITHUB_API_URL: api, GITHUB_REPOSITORY: repository, GITHUB_EVENT_PATH: file }: GitHubRun,
  token: string,
  rehearsed: string,
  text: string,
): Promise<string | undefined> {
  const mark = `<!-- hosted-postgres ${createHash('sha256').update(rehearsed).digest('hex')} -->`;
  const body = `${mark}\n${text.slice(0, MAX_BODY)}`;
  const call = async (method: string, path: string, content?: object): Promise<unknown> => {
    const headers = { Authorization: `Bearer ${token}`, Accept: 'application/vnd.github+json' };
    const request = { method, headers, ...(content && { body: JSON.stringify(content) }) };
    const reply = await fetch(`${api}/repos/${repository}/issues/${path}`, request);
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return await reply.json();
  };
  try {
    const event: unknown = file === undefined ? undefined : JSON.parse(readFileSync(file, 'utf8'));
    const { number } = fieldsOf(fieldsOf(event)['pull_request']);
    if (api === undefined || repository === undefined || typeof number !== 'number')
      return 'The run is not of a pull request';
    for (let page = 1; ; page += 1) {
      const all = await call('GET', `${number}/comments?per_page=${PER_PAGE}&page=${page}`);
      const comments = Array.isArray(all) ? all.map(fieldsOf) : [];
      const own = comments.find((each) => String(each['body']).startsWith(mark));
      if (own !== undefined) {
        await call('PATCH', `comments/${String(own['id'])}`, { body });
        return undefined;
      }
      if (comments.length < PER_PAGE) break;
    }
    await call('POST', `${number}/comments`, { body });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
