import { sharedWindows } from './sharedWindows.ts';
import { loadSuites } from './useWorkbench.ts';

await loadSuites(sharedWindows.secondWindow);
