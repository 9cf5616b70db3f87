// The baseline for activation: an extension that does nothing.
import { window } from 'vscode';

export const activate = () => void window;
