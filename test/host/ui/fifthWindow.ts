import { loadSuites } from './loadSuites.ts';
import { sharedWindows } from './sharedWindows.ts';

await loadSuites(sharedWindows.fifthWindow);
