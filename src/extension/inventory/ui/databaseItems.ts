/** The rows of databases, of what is in them, and of columns. */
import { l10n, ThemeColor, ThemeIcon, TreeItem, TreeItemCollapsibleState } from 'vscode';
import { sanitize } from '../../../base/sanitize.ts';
import { explainError } from '../../window/ui/errorMessage.ts';
import type { OwnCommand } from '../../window/ui/executeCommand.ts';
import {
  databaseRowName,
  type ColumnNode,
  type DatabaseHintNode,
  type DatabaseParentNode,
  type DatabaseTreeNode,
  type FunctionNode,
  type TableNode,
} from '../databaseNodes.ts';

const { Collapsed } = TreeItemCollapsibleState;

/** Returns the row of a database, or of something in it. @param branch the name of the branch */
export function databaseTreeItem(node: DatabaseTreeNode, branch: string): TreeItem {
  switch (node.kind) {
    case 'databases': {
      const item = new TreeItem(l10n.t('Databases'), Collapsed);
      // Without an icon, VS Code would draw the rows below further left than the name of the branch.
      item.iconPath = new ThemeIcon('library');
      item.contextValue = node.kind;
      item.accessibilityInformation = { label: l10n.t('Databases of {0}', branch) };
      return item;
    }
    case 'database': {
      const name = sanitize(node.database);
      const item = new TreeItem(name, Collapsed);
      item.iconPath = new ThemeIcon('database');
      item.contextValue = node.kind;
      item.accessibilityInformation = { label: l10n.t('Database {0}', name) };
      return item;
    }
    case 'table':
      return tableItem(node);
    case 'column':
      return columnItem(node);
    case 'function':
      return functionItem(node);
    case 'databaseHint':
      return hintItem(node);
    default:
      return node satisfies never;
  }
}

function tableItem(node: TableNode): TreeItem {
  const name = sanitize(databaseRowName(node) ?? '');
  const item = new TreeItem(name, Collapsed);
  item.iconPath = new ThemeIcon(node.isView ? 'eye' : 'table');
  item.contextValue = node.kind;
  const label = node.isView ? l10n.t('View {0}', name) : l10n.t('Table {0}', name);
  item.accessibilityInformation = { label };
  const peek = { title: l10n.t('Peek Rows'), command: 'hostedPostgres.rows.peek' } satisfies OwnCommand;
  item.command = { ...peek, arguments: [node] };
  return item;
}

function columnItem(node: ColumnNode): TreeItem {
  const name = sanitize(node.name);
  const item = new TreeItem(name);
  item.iconPath = new ThemeIcon(node.isKey ? 'key' : 'symbol-field');
  item.contextValue = node.kind;
  item.description = [sanitize(node.type), node.isNullable ? '' : 'not null'].filter(Boolean).join(' ');
  const label = node.isKey ? l10n.t('Primary key column {0}', name) : l10n.t('Column {0}', name);
  item.accessibilityInformation = { label: `${label}, ${item.description}` };
  return item;
}

function functionItem(node: FunctionNode): TreeItem {
  const name = `${sanitize(databaseRowName(node) ?? '')}(${sanitize(node.parameters)})`;
  const item = new TreeItem(name);
  item.iconPath = new ThemeIcon('symbol-function');
  item.contextValue = node.kind;
  if (node.result !== null) item.description = sanitize(node.result);
  const label = node.result === null ? l10n.t('Procedure {0}', name) : l10n.t('Function {0}', name);
  item.accessibilityInformation = { label };
  return item;
}

function emptyText({ kind }: DatabaseParentNode): string {
  if (kind === 'databases') return l10n.t('No databases');
  return kind === 'database' ? l10n.t('No tables or functions') : l10n.t('No columns');
}

function hintItem({ parent, hint }: DatabaseHintNode): TreeItem {
  const again = { title: l10n.t('Try Again'), command: 'hostedPostgres.view.refresh' } satisfies OwnCommand;
  const retry = { ...again, arguments: [parent] };
  if (hint === 'empty') return new TreeItem(emptyText(parent));
  if (hint === 'notOffered') return new TreeItem(l10n.t("This service doesn't list databases."));
  if (hint === 'notRead') {
    const item = new TreeItem(l10n.t('Not read. Click to read it'));
    item.command = retry;
    return item;
  }
  if ('more' in hint) {
    const item = new TreeItem(l10n.t('{0} more…', hint.more));
    const peek = { title: l10n.t('Peek Rows'), command: 'hostedPostgres.rows.peek' } satisfies OwnCommand;
    item.command = { ...peek, arguments: [parent] };
    return item;
  }
  const item = new TreeItem(l10n.t("Couldn't load: {0}", explainError(hint.error).message));
  item.iconPath = new ThemeIcon('warning', new ThemeColor('list.warningForeground'));
  item.command = retry;
  return item;
}
