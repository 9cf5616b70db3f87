/** The client alone: the package's main module also loads its pool, and `pg-native` if the environment asks for it. */
declare module 'pg/lib/client.js' {
  export { Client as default } from 'pg';
}

/** The client's part of a SCRAM login. The functions throw if the server breaks the protocol or doesn't know the password. */
declare module 'pg/lib/crypto/sasl.js' {
  namespace sasl {
    interface Session {
      readonly mechanism: string;
      /** What to send next. */
      readonly response: string;
    }
  }
  const sasl: {
    startSession(mechanisms: readonly string[]): sasl.Session;
    continueSession(session: sasl.Session, password: string, serverData: string): Promise<void>;
    finalizeSession(session: sasl.Session, serverData: string): void;
  };
  export default sasl;
}
