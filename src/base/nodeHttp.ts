/**
 * Node's HTTP. `import` of it would read all that it exports, also `WebSocket`, which loads the whole of undici: 27 of the 70 ms in
 * which a program of ours starts. Types are imported as usual.
 */
export const { createServer, get, request } = process.getBuiltinModule('node:http');
