/**
 * Node's HTTP without an `import`. An import reads every export of the module, also `WebSocket`, which loads all of undici: 27 ms of
 * the 70 ms that our programs need to start. Import types as usual.
 */
export const { createServer, get, request } = process.getBuiltinModule('node:http');
