import { EngineError } from '../../core/computeEngine.ts';

/** Why the service itself refuses what a client asked for. The client gets the message, the code as SQLSTATE, and the hint. */
export class ClientRefusal extends EngineError {
  readonly code: string;
  readonly hint: string | undefined;

  constructor(code: string, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
