/** Marks the moment before a program in a terminal or task that may change the schema of the branch in the env file. */
import { tasks, window, workspace, type Uri } from 'vscode';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import type { WorkFolders } from '../../gitBranch/ui/workFolders.ts';
import type { Markers } from '../markers.ts';
import { migrationProgram } from '../migrationPrograms.ts';

interface Dependencies {
  readonly workFolders: Pick<WorkFolders, 'of' | 'shown'>;
  readonly markers: Markers;
}

export function markPrograms({ workFolders, markers }: Dependencies): Disposable {
  const mark = (commandLine: string, cwd: Uri | undefined) => {
    const text = migrationProgram(commandLine);
    if (text === undefined) return;
    const folder = cwd && workspace.getWorkspaceFolder(cwd);
    const work = (folder && workFolders.of(folder)) ?? workFolders.shown?.work;
    if (work?.state.current !== undefined) markers.add(work.state.current, { kind: 'program', text });
  };
  const disposables = new DisposableStore();
  // Terminals without shell integration report nothing.
  disposables.add(
    window.onDidStartTerminalShellExecution(({ execution: { commandLine, cwd } }) =>
      mark(commandLine.value, cwd),
    ),
  );
  // A task runs without a shell that reports its command line. The name of an npm script is that of its task.
  disposables.add(
    tasks.onDidStartTask(({ execution: { task } }) => {
      const name =
        task.definition.type === 'npm' ? `npm run ${String(task.definition['script'])}` : task.name;
      mark(name, typeof task.scope === 'object' ? task.scope.uri : undefined);
    }),
  );
  return disposables;
}
