import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { isLeaseProof } from '../../../../src/localService/leaseProof.ts';
import { startBridge } from '../../../../src/extension/agents/bridgeServer.ts';
import {
  toMessageLine,
  readLines,
  type BridgeCall,
} from '../../../../src/extension/agents/bridgeMessages.ts';
import {
  windowRecordFile,
  removeStaleRecords,
  findWindows,
} from '../../../../src/extension/agents/windowRecords.ts';
import { atEndOfTest } from '../../../helpers/atEndOfTest.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { withVariables } from '../../../helpers/withVariables.ts';
import { onPlatform } from '../../../helpers/onPlatform.ts';
import { until } from '../../../workbench/until.ts';

const MAX_REQUEST = 1024 * 1024;
const call = { tool: 'listComputes', input: {}, agent: 'Test', folder: '/work' };

describe('The bridge', () => {
  let folder: string;
  let calls: BridgeCall[];
  let signals: AbortSignal[];
  let presence: boolean[];
  let answer: () => Promise<object>;

  const listen = async (...folders: readonly string[]) => {
    const options = {
      folder,
      call: (received: BridgeCall, signal: AbortSignal) => {
        calls.push(received);
        signals.push(signal);
        return answer();
      },
      onPresence: (isPresent: boolean) => void presence.push(isPresent),
    };
    const server = await startBridge(options, folders);
    atEndOfTest(() => server.dispose());
    return server;
  };
  const record = (): { readonly socket: string; readonly token: string } =>
    JSON.parse(readFileSync(windowRecordFile(folder, process.pid), 'utf8'));
  const open = (): { readonly socket: Socket; readonly lines: string[] } => {
    const socket = connect(record().socket);
    socket.on('error', () => undefined);
    atEndOfTest(() => socket.destroy());
    const lines: string[] = [];
    readLines(socket, (line) => lines.push(line));
    return { socket, lines };
  };
  /** Sends it after the greeting. @returns the reply, or undefined if the window ends the connection without one */
  const send = async (...chunks: readonly (string | Buffer)[]): Promise<unknown> => {
    const { socket, lines } = open();
    for (const chunk of chunks) socket.write(chunk);
    await once(socket, 'close');
    const [greeting = '', reply] = lines;
    assert.deepEqual(JSON.parse(greeting), {});
    return reply === undefined ? undefined : JSON.parse(reply);
  };

  beforeEach(() => {
    folder = path.join(temporaryFolder(), 'agents');
    calls = [];
    signals = [];
    presence = [];
    answer = async () => ({ computes: [] });
  });

  it('passes a call on, and its answer or error back', async () => {
    await listen();
    const request = toMessageLine({ token: record().token, call });
    assert.deepEqual(await send(request), { result: { computes: [] } });
    assert.deepEqual(calls, [call]);
    // The request arrives in small pieces.
    assert.deepEqual(await send(...Array.from(request)), { result: { computes: [] } });
    answer = () => Promise.reject(new Error('No such compute.'));
    assert.deepEqual(await send(request), { error: 'No such compute.' });
    const long = 'ü'.repeat(MAX_REQUEST);
    answer = async () => ({ text: long });
    assert.deepEqual(await send(request), { result: { text: long } });
  });

  it('proves that it has written the record, before it gets the token', async () => {
    await listen();
    const { socket: address, token } = record();
    const challenge = { secret: token, nonce: 'n', baseUrl: address };
    const { socket, lines } = open();
    socket.write(toMessageLine({ nonce: 'n' }));
    await until('the proof', async () => lines.length === 2);
    const { proof } = JSON.parse(lines[1] ?? '');
    assert.ok(isLeaseProof('window', challenge, proof));
    socket.write(toMessageLine({ token, call }));
    await once(socket, 'close');
    assert.deepEqual(JSON.parse(lines[2] ?? ''), { result: { computes: [] } });
    assert.equal(await send(toMessageLine({ nonce: 'n', token })), undefined);
  });

  it('ends connections without a call that it understands', async () => {
    await listen();
    const { token } = record();
    const valid = JSON.stringify({ token, call });
    for (const line of [
      '{',
      'null',
      '[]',
      'GET / HTTP/1.1',
      JSON.stringify({ call }),
      JSON.stringify({ token: '', call }),
      JSON.stringify({ token: [token], call }),
      JSON.stringify({ token: token.slice(0, -1), call }),
      JSON.stringify({ token, call: { ...call, isConfirmed: true } }),
      JSON.stringify({ token, call: { ...call, tool: 1 } }),
      JSON.stringify({ token, call, mayAsk: false }),
    ])
      assert.equal(await send(`${line}\n`), undefined, line);
    assert.equal(await send(Buffer.alloc(MAX_REQUEST + 1, 'x')), undefined);
    assert.equal(await send(`${valid.slice(0, -1)},"x":"${'x'.repeat(MAX_REQUEST)}"}\n`), undefined);
    assert.deepEqual(calls, []);
    // A second request on one connection.
    answer = () => new Promise(() => undefined);
    assert.equal(await send(`${valid}\n${valid}\n`), undefined);
    assert.equal(calls.length, 1);
  });

  it('cancels the call of a client that goes away', async () => {
    await listen();
    answer = () => new Promise(() => undefined);
    const { socket } = open();
    socket.write(toMessageLine({ token: record().token, call }));
    await until('the call', async () => signals.length === 1);
    assert.equal(signals[0]?.aborted, false);
    socket.end();
    await until('its end', async () => signals[0]?.aborted === true);
  });

  it('survives a client that goes away during a long reply', async () => {
    await listen();
    answer = async () => ({ text: 'x'.repeat(8 * MAX_REQUEST) });
    const socket = connect(record().socket);
    socket.pause().on('error', () => undefined);
    socket.write(toMessageLine({ token: record().token, call }));
    await until('the call', async () => signals.length === 1);
    socket.destroy();
    await until('its end', async () => signals[0]?.aborted === true);
  });

  it('ends its connections with its window, and keeps no process running', async () => {
    const running = () => process.getActiveResourcesInfo().filter((each) => each === 'PipeWrap').length;
    const before = running();
    const server = await listen();
    assert.ok(running() <= before);
    const { socket, lines } = open();
    await until('the greeting', async () => lines.length === 1);
    const closed = once(socket, 'close');
    server.dispose();
    await closed;
  });

  it('knows while programs that VS Code has started are connected', async () => {
    await listen();
    const first = open();
    const second = open();
    for (const { socket } of [first, second]) socket.write(toMessageLine({ token: record().token }));
    await until('both', async () => presence.length === 2);
    first.socket.end();
    second.socket.destroy();
    await until('their end', async () => presence.length === 4);
    assert.deepEqual(presence, [true, true, true, false]);
  });

  it('lets only the user read its files, and removes them', async function () {
    // As an earlier version, or another window with its process id, has left them.
    mkdirSync(folder, { mode: 0o755 });
    // Windows has a pipe instead, which is in no folder.
    if (process.platform !== 'win32') writeFileSync(path.join(folder, `${process.pid}.sock`), '');
    const server = await listen('/work');
    if (process.platform !== 'win32') {
      assert.equal(statSync(folder).mode & 0o777, 0o700);
      assert.equal(statSync(record().socket).mode & 0o777, 0o600);
      assert.equal(statSync(windowRecordFile(folder, process.pid)).mode & 0o777, 0o600);
    }
    await server.publish(['/other']);
    const [found] = await findWindows(folder, { pid: 0, workingFolder: '/' });
    assert.deepEqual(found?.folders, ['/other']);
    server.dispose();
    await until('the end', async () => readdirSync(folder).length === 0);
  });

  it('removes what windows have left that were killed, and no more', async function () {
    // Pipes leave nothing.
    if (process.platform === 'win32') this.skip();
    mkdirSync(folder, { recursive: true });
    const left = (pid: number) =>
      JSON.stringify({ socket: path.join(folder, `${pid}.sock`), token: '', folders: [] });
    // The highest process id on Linux is below this one.
    const dead = 2 ** 22 + 1;
    const temporary = path.join(temporaryFolder(), 'hosted-postgres-left');
    mkdirSync(temporary);
    writeFileSync(path.join(temporary, 'agents'), '');
    const elsewhere = JSON.stringify({ socket: path.join(temporary, 'agents'), token: '', folders: [] });
    writeFileSync(windowRecordFile(folder, dead + 1), elsewhere);
    // Its socket is gone already.
    writeFileSync(windowRecordFile(folder, dead + 2), left(dead + 2));
    for (const pid of [dead, process.ppid]) {
      writeFileSync(windowRecordFile(folder, pid), left(pid));
      writeFileSync(path.join(folder, `${pid}.sock`), '');
    }
    writeFileSync(path.join(folder, 'hosted-postgres-mcp'), '');
    await listen();
    const own = [`${process.pid}.json`, `${process.pid}.sock`];
    const others = [`${process.ppid}.json`, `${process.ppid}.sock`, 'hosted-postgres-mcp'];
    assert.deepEqual(readdirSync(folder).toSorted(), [...own, ...others].toSorted());
    assert.equal(existsSync(temporary), false);
  });

  it('removes no pipe on Windows, where it ends with its window', async () => {
    mkdirSync(folder, { recursive: true });
    const socket = path.join(folder, 'pipe');
    writeFileSync(socket, '');
    writeFileSync(windowRecordFile(folder, 2 ** 22 + 1), JSON.stringify({ socket, token: '', folders: [] }));
    await onPlatform('win32', () => removeStaleRecords(folder));
    assert.deepEqual(readdirSync(folder), ['pipe']);
  });

  it('listens where the path is short enough for a socket', async function () {
    if (process.platform === 'win32') this.skip();
    folder = path.join(temporaryFolder(), 'x'.repeat(100), 'agents');
    const server = await listen();
    assert.deepEqual(await send(toMessageLine({ token: record().token, call })), {
      result: { computes: [] },
    });
    const socketFolder = path.dirname(record().socket);
    assert.notEqual(socketFolder, folder);
    assert.match(path.basename(socketFolder), /^hosted-postgres-/);
    assert.equal(statSync(socketFolder).mode & 0o777, 0o700);
    server.dispose();
    assert.equal(existsSync(socketFolder), false);
  });

  it('does not start where no path is short enough', async function () {
    // Other systems have other limits.
    if (process.platform !== 'linux') this.skip();
    const long = path.join(temporaryFolder(), 'x'.repeat(200));
    mkdirSync(long);
    folder = path.join(long, 'agents');
    await withVariables({ TMPDIR: long }, () => assert.rejects(listen(), { syscall: 'listen' }));
  });

  it('removes only a folder that it has created', async () => {
    const [name, real] = ['agents', folder];
    // The same folder, written differently.
    for (const same of [real + path.sep, [path.dirname(real), '.', name].join(path.sep)]) {
      folder = same;
      const server = await listen();
      writeFileSync(path.join(real, 'hosted-postgres-mcp'), '');
      server.dispose();
      assert.ok(existsSync(path.join(real, 'hosted-postgres-mcp')), same);
    }
  });
});
