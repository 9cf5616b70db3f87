import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { runEachCommand } from './eachCommand.ts';

describe('With an account', () => {
  before(async function () {
    this.timeout(60_000);
    await vscode.commands.executeCommand('hostedPostgres.localService.start');
  });

  it('every command asks or explains itself, and ends', async () => {
    assert.deepEqual(await runEachCommand(), []);
  });
});
