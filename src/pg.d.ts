/** Files of the package `pg` that its types lack. */

/** The client alone: the package's main module also loads its pool, and `pg-native` if the environment asks for it. */
declare module 'pg/lib/client.js' {
  export { Client as default } from 'pg';
}

/** A query of `pg`, with what its types lack: what it does with each message of Postgres. */
declare module 'pg/lib/query.js' {
  import type { FieldDef, Query } from 'pg';

  interface CopyConnection {
    sendCopyFromChunk(chunk: Uint8Array): void;
    endCopyFrom(): void;
    sendCopyFail(reason: string): void;
  }

  export default class CopyQuery extends Query {
    handleRowDescription: (message: { readonly fields: readonly FieldDef[] }) => void;
    handleDataRow: (message: { readonly fields: readonly (string | null)[] }) => void;
    handleCommandComplete: (message: { readonly text: string }) => void;
    handleCopyInResponse: (connection: CopyConnection) => void;
    handleCopyData: (message: { readonly chunk: Uint8Array }) => void;
  }
}
