/**
 * Replaces a module of the MCP SDK, which brings a validator of 150 KB for forms. This server shows none: clients may
 * decline them without asking.
 */
export { default as process } from 'node:process';

export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error('Forms are not supported.');
  }
}
