import type { FaultCode } from "./fault-table.ts";

export type { FaultCode } from "./fault-table.ts";

/** Ends the request; its sender must act. Known by its code, never by its message. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;

  constructor(code: FaultCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
