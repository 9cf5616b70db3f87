/** Decides what the gateway passes on of a client's start-up packet, in the same way as the public service's gateway. */
import { ClientRefusal } from './refusal.ts';

/** The parameters that are handed on, in addition to the protocol's own options and the encoding. */
const FORWARDED = new Set(['user', 'database', 'application_name', 'replication', 'options']);
/** The names of the protocol's own options begin with this. Only Postgres knows which of them to decline. */
const PROTOCOL_OPTION = '_pq_.';
/** The encoding of most clients. The public service sets it, too, also for clients that have asked for another one. */
const ENCODING = ['client_encoding', 'UTF8'] as const;

/** The bytes of the length and of the version of the protocol. */
const HEAD = 8;
/** The byte that ends each text. */
const END = '\0';

/**
 * Returns a packet with only what Postgres is meant to get. Drivers send what else they find in a connection string, such as
 * `channel_binding` or `pool_timeout`, and Postgres rejects unknown names. @param packet complete @throws {ClientRefusal}
 */
export function filterStartupPacket(packet: Buffer): Buffer {
  const parameters = parametersOf(packet);
  const isReplication = asksForReplication(parameters);
  const kept = parameters.flatMap(([name, value]) => {
    if (name === 'options') return isReplication ? [] : withoutGatewayWords(value);
    if (name === 'replication' && isReplication) return [];
    return FORWARDED.has(name) || name.startsWith(PROTOCOL_OPTION) ? [[name, value] as const] : [];
  });
  if (isReplication) kept.push(['options', replicationOptions(parameters)]);
  const body = [...kept, ENCODING].map(([name, value]) => name + END + value + END).join('') + END;
  const head = Buffer.from(packet.subarray(0, HEAD));
  head.writeUInt32BE(HEAD + body.length);
  return Buffer.concat([head, Buffer.from(body, 'latin1')]);
}

/** What a client asks for that wants logical replication. Its session is an ordinary one: see `replicationConnection.ts`. */
export interface ReplicationRequest {
  /** The command-line options with the settings of the process that sends changes. */
  readonly options: string;
}

/** Returns what a client of replication asks for; undefined for an ordinary session. @throws {ClientRefusal} for physical replication */
export function readReplicationRequest(packet: Buffer): ReplicationRequest | undefined {
  const parameters = parametersOf(packet);
  if (!asksForReplication(parameters)) {
    // Postgres refuses every client other than the service, and this one gets to know why.
    if (parameters.some(([name, value]) => name === 'replication' && IS_ON.test(value)))
      throw new ClientRefusal(
        '28000',
        'this address serves no physical replication',
        'Create a read replica, a branch or a snapshot. Logical replication connects with replication=database',
      );
    return undefined;
  }
  return { options: Buffer.from(replicationOptions(parameters), 'latin1').toString() };
}

/** Returns the options of the client, without a limit for idle sessions, because the session has nothing to do while changes are sent. */
const replicationOptions = (parameters: readonly Parameter[]): string => {
  const given = parameters.findLast(([name]) => name === 'options')?.[1] ?? '';
  return [...withoutGatewayWords(given).map(([, value]) => value), '-c idle_session_timeout=0'].join(' ');
};

const IS_ON = /^(?:true|on|yes|1)$/i;

const asksForReplication = (parameters: readonly Parameter[]): boolean =>
  parameters.some(([name, value]) => name === 'replication' && value === 'database');

type Parameter = readonly [name: string, value: string];

/** Returns the parameters, with one character for each byte. @throws {ClientRefusal} where Postgres finds the packet malformed, too */
function parametersOf(packet: Buffer): Parameter[] {
  const body = packet.toString('latin1', HEAD);
  const texts = body.slice(0, -1).split(END);
  // These are the bytes after the last text.
  const rest = texts.pop();
  const names = texts.filter((_, index) => index % 2 === 0);
  if (!body.endsWith(END) || rest !== '' || texts.length % 2 > 0 || names.includes(''))
    throw new ClientRefusal('08P01', 'invalid startup packet layout: expected terminator as last byte');
  return names.map((name, index) => [name, texts[2 * index + 1] ?? '']);
}

/** Matches a word of `options`, as Postgres splits them: a backslash makes the next character part of the word. */
const WORD = /(?:\\[^]|[^\\ \t-\r])+/g;
/** Matches a word for the gateway: which compute is meant, for clients that don't send the host's name, and options of the service. */
const FOR_GATEWAY = /^(?:endpoint|project)=|^neon_\w+:/;

/** Matches a word that asks for the data of another moment, as `neon psql main@<time>` does. Present data would be a wrong answer. */
const MOMENT = /^neon_(?:timestamp|lsn):(.*)$/;
/** Matches text that needs no quotes in a command. */
const PLAIN = /^[\w:./+-]+$/;

function noMomentRefusal(word: string, given: string): ClientRefusal {
  const moment = PLAIN.test(given) ? given : '<time or LSN>';
  return new ClientRefusal(
    '0A000',
    `this address has only the present data of its branch, so it can't serve ${word}`,
    `Make a branch of that moment, here of the branch main: neon branches create --name past --parent main, then ` +
      `neon branches restore past main@${moment}, then neon psql past`,
  );
}

/** Returns the parameter `options`, if any is left. @throws {ClientRefusal} if the options ask for the data of another moment */
function withoutGatewayWords(options: string): Parameter[] {
  const words = options.match(WORD) ?? [];
  for (const word of words) {
    const moment = MOMENT.exec(word)?.[1];
    if (moment !== undefined) throw noMomentRefusal(word, moment);
  }
  const kept = words.filter((word) => !FOR_GATEWAY.test(word));
  return kept.length === 0 ? [] : [['options', kept.join(' ')]];
}
