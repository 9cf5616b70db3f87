/** What the local service does otherwise than the public service's document, and why. */

export interface Difference {
  /** The call, such as `GET /projects`. */
  readonly call: RegExp;
  readonly problem: RegExp;
  /** The section of the specification that demands it, or the reason. */
  readonly because: string;
}

const DIFFERENCES: readonly Difference[] = [
  {
    call: / \/projects(?:\/\{project_id\}(?:\/recover)?)?$/,
    problem: /^the reply has the unknown field \/projects?\/locked$/,
    because: '`locked` is a field of a project',
  },
  {
    call: /endpoint|\/(?:branches|projects)$/,
    problem: /^the reply has the unknown field \/endpoints?\/pooler_host$/,
    because: 'a pooler of the local service has a separate port, which no rule derives from the host',
  },
  {
    call: /^GET .*\/endpoints\/\{endpoint_id\}$/,
    problem: /^the reply has the unknown field \/endpoint\/connections$/,
    because:
      'the extension says how many connections a suspension drops; the public service has no such number',
  },
  {
    call: /operations|endpoint/,
    problem: /^the reply has the unknown field \/operations?\/triggered_by$/,
    because: 'the history of operations says whether a connection or inactivity was the reason',
  },
  {
    call: /^GET .*\/activity \d+$|^GET .*\/activity$/,
    problem: /^the document has no such (?:call|reply)$/,
    because: 'why a compute is active, without a session of the client, which would be activity',
  },
  {
    call: /^GET .*\/log \d+$|^GET .*\/log$/,
    problem: /^the document has no such (?:call|reply)$/,
    because: 'what Postgres logged, which on the public service is only in its console',
  },
  {
    call: /^GET .*\/changes \d+$|^GET .*\/changes$/,
    problem: /^the document has no such (?:call|reply)$/,
    because: 'what has changed since a moment, which only the write-ahead log knows',
  },
  {
    call: /^GET .*\/replication_slots$/,
    problem: /^the document has no such (?:call|reply)$/,
    because: 'what the slots of a branch keep of the write-ahead log on a laptop',
  },
  {
    call: /^(?:POST|GET) .*\/rehearsal$/,
    problem: /^the document has no such (?:call|reply)$/,
    because: 'a run of a migration on a copy of the branch, watched by the service',
  },
  {
    call: /^POST .*\/reader \d+$|^POST .*\/reader$/,
    problem: /^the document has no such (?:call|reply)$/,
    because: 'a login that only reads, which the public service has no role for',
  },
  {
    call: /branch|snapshot|\/(?:projects|recover)$/,
    problem: /^the reply has the unknown field \/branch(?:es)?\/history_size$/,
    because: 'on a laptop, history takes disk space; the public service reports it only for a whole project',
  },
  {
    call: /endpoint|\/(?:branches|projects)$/,
    problem: /^the reply has the unknown field \/endpoints?\/pooled_sessions$/,
    because: 'without PgBouncer each pooled client has its own session, which pooler_mode cannot say',
  },
  {
    call: /endpoint|\/(?:branches|projects)$/,
    problem: /^the reply has the unknown field \/endpoints?\/last_error$/,
    because: 'why a compute did not start, which its row shows',
  },
  {
    call: /\/snapshots?(?:\/\{snapshot_id\})?$/,
    problem:
      /^(?:there is no parameter slug|the re(?:ply|quest) has the unknown field \/snapshots?\/(?:slug|expires_at))$/,
    because: 'newer than the document: the newest command line sends and shows them',
  },
  {
    call: /\/(?:ai_gateway|storage)$/,
    problem: /^the reply (?:must have required property 'reason'|has the unknown field \/request_id)$/,
    because: 'not offered, so the reply is that of an unknown path',
  },
];

export const findDifference = (call: string, problem: string): Difference | undefined =>
  DIFFERENCES.find((each) => each.call.test(call) && each.problem.test(problem));
