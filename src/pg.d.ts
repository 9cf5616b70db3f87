/** Files of the package `pg` that its types lack. */

/** The client alone: the package's main module also loads its pool, and `pg-native` if the environment asks for it. */
declare module 'pg/lib/client.js' {
  export { Client as default } from 'pg';
}

/** A query of `pg`, with what its types lack: the answer to `COPY … FROM STDIN`, as the package pg-copy-streams gives it. */
declare module 'pg/lib/query.js' {
  import type { Query } from 'pg';

  interface CopyConnection {
    sendCopyFromChunk(chunk: Uint8Array): void;
    endCopyFrom(): void;
    sendCopyFail(reason: string): void;
  }

  export default class CopyQuery extends Query {
    handleCopyInResponse: (connection: CopyConnection) => void;
  }
}
