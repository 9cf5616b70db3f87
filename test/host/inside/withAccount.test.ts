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
});
