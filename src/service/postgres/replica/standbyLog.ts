/** What a standby repeats every few seconds while its primary is suspended. */
const RETRY =
  /could not connect to the primary server|Is the server running locally|waiting for WAL to become available|invalid record length|replication terminated by primary|End of WAL reached|could not send end-of-streaming|the database system is (starting up|shutting down)/;

/** Leaves these lines out of the log. Nothing depends on it. */
export function withoutRetries(onLine: (line: string) => void): (line: string) => void {
  let isRetry = false;
  return (line) => {
    // A line that starts with a tab continues the one before.
    if (!line.startsWith('\t')) isRetry = RETRY.test(line);
    if (!isRetry) onLine(line);
  };
}
