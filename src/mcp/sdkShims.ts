/**
 * Replaces a module of the MCP SDK that would add a validator for forms, 150 KB. This server shows no forms: clients may decline
 * them without asking.
 */
export { default as process } from 'node:process';

export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error('Forms are not supported.');
  }
}
