/**
 * Node's HTTP without an `import`, which would read each export, including `WebSocket`, and that loads all of undici: 27 of the 70 ms
 * in which our programs start. Import types as usual.
 */
export const { createServer, get, request } = process.getBuiltinModule('node:http');
