/** Says that the data of the local service are gone, which would otherwise look as if it had forgotten everything. */
import { l10n } from 'vscode';
import type { Disposable } from '../../../base/disposable.ts';
import { window } from '../../window/ui/window.ts';
import type { LocalService } from './localService.ts';

export const reportLostData = (localService: Pick<LocalService, 'onDidLoseData'>): Disposable =>
  localService.onDidLoseData(
    () =>
      void window.showWarningMessage(
        l10n.t('The data of the local service was deleted. The service has started with new sample data.'),
      ),
  );
