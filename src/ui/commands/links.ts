/** Links from outside, `vscode://hosted-postgres.hosted-postgres/…`: the command checks them and follows them. */
import { commands, window } from 'vscode';
import type { Disposable } from '../../base/disposable.ts';

export const followLinks = (): Disposable =>
  window.registerUriHandler({
    handleUri: (uri) => {
      void commands.executeCommand('hostedPostgres.compute.openLink', uri.toString(true));
    },
  });
