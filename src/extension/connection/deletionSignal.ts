/** The signal on which `terminalProgram.ts` says that the compute was deleted. Windows has no such signals. */
export const DELETION_SIGNAL = 'SIGUSR2';
