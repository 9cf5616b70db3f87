// The baseline for activation: an extension that does nothing.
const { window } = require('vscode');

exports.activate = () => void window;
