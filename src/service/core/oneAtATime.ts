import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** The most requests that a connection may send before it has received the reply to the first of them. */
export const MAX_PIPELINED_REQUESTS = 100;

/**
 * Handles the requests of each connection in order, so that a client that never reads its replies occupies the service with
 * only one of its requests.
 * Node alone would handle all requests that have arrived. Closes connections with too many waiting requests.
 */
export function handleOneAtATime(listener: RequestListener): RequestListener {
  const queues = new WeakMap<Socket, (() => void)[]>();
  return (request, response) => {
    const { socket } = request;
    const queue = queues.get(socket) ?? [];
    queues.set(socket, queue);
    if (queue.length === MAX_PIPELINED_REQUESTS) {
      socket.destroy();
      return;
    }
    queue.push(() => listener(request, response));
    response.once('close', () => {
      queue.shift();
      if (socket.writable) queue[0]?.();
    });
    if (queue.length === 1) queue[0]?.();
  };
}
