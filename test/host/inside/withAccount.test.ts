import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { runEachCommand } from './eachCommand.ts';

describe('the commands with an account', () => {
  before(async () => {
    await vscode.commands.executeCommand('hostedPostgres.localService.start');
  });

  it('prompt or show a message, and end', async () => {
    assert.deepEqual(await runEachCommand(), []);
  });

  it('do not ask which resource is meant if VS Code passes a row that it does not find', async () => {
    // It would wait for an answer.
    await vscode.commands.executeCommand('hostedPostgres.compute.delete', undefined, undefined);
  });
});
