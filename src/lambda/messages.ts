/** What a pool and the processes of resolvers tell one another. */
import type { ShownErrors } from "./limits.ts";

export type ToResolver =
  | {
      readonly kind: "load";
      readonly runner: string;
      readonly script: string;
      readonly name: string;
      /** Of one answer, and of one request: larger ones are refused before they are sent. */
      readonly bodyBytesMax: number;
      readonly shows: ShownErrors;
      /** Whether lines of the console come with their places; it costs a trace for each. */
      readonly tracesConsole: boolean;
    }
  /** `body`: the call as it came, JSON. `isPartial`: the caller takes failures of single parents. */
  | {
      readonly kind: "call";
      readonly id: number;
      readonly body: string;
      readonly isPartial: boolean;
    }
  | { readonly kind: "told"; readonly ask: number; readonly answer: AskAnswer }
  | { readonly kind: "ping" };

export type FromResolver =
  | { readonly kind: "ready"; readonly names: readonly string[] }
  /** The script cannot be loaded. */
  | { readonly kind: "broken"; readonly message: string }
  /** The call has begun: from here on it is not made again elsewhere. */
  | { readonly kind: "begun"; readonly id: number }
  | { readonly kind: "done"; readonly id: number; readonly status: number; readonly body: string }
  | { readonly kind: "ask"; readonly ask: number; readonly call: AskCall }
  /** Something went wrong in the script; for the operator. */
  | { readonly kind: "fault"; readonly message: string }
  /** A line of the script's console. */
  | {
      readonly kind: "printed";
      readonly level: "info" | "warn";
      readonly line: string;
      /** `LINE:COLUMN` in the script as it runs. */
      readonly at?: string | undefined;
    }
  | { readonly kind: "pong" };

/** A request that a resolver wants made. Resolvers have no network: the server makes it for them. */
export interface AskCall {
  /** database: `url` is a path of the database's; web: an address on the operator's list. */
  readonly to: "database" | "web";
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  /** In base64 where it is no text. */
  readonly body: string | undefined;
  readonly isBase64: boolean;
}

export type AskAnswer =
  | {
      readonly ok: true;
      readonly status: number;
      readonly statusText: string;
      readonly url: string;
      readonly headers: readonly (readonly [string, string])[];
      readonly body: string;
      readonly isBase64: boolean;
    }
  | { readonly ok: false; readonly message: string };
