/** What the files of fields have in common. */
import type { Principal } from "../model/principal.ts";

/** Of one request. */
export interface AdminContext {
  readonly principal: Principal;
  /** Of the sender, as the socket tells it. */
  readonly remoteAddress: string;
  /** The only one into which the sender's key lets anybody; undefined: each. */
  readonly keyNamespace: number | undefined;
  /** Set by the first mutation that fails: those behind it do not run. */
  hasFailed: boolean;
}

/** A field's work. What it throws as a Fault is told with the field's name. */
export type FieldWork = (args: never, context: AdminContext) => unknown;

/** By `Query.name` and `Mutation.name`. */
export type FieldTable = Readonly<Record<string, FieldWork>>;

/** What most mutations answer. */
export function succeed(message: string): object {
  return { response: { code: "Success", message } };
}

/**
 * A field fails in words of its own. rewrite: what is asked for cannot be done as it stands; mutation: the engine refused
 * it; query: it could not be run, and has no value at all, not even null.
 */
export class FieldFailure extends Error {
  override readonly name = "FieldFailure";
  readonly form: "rewrite" | "mutation" | "query";
  readonly messages: readonly string[];

  constructor(form: FieldFailure["form"], messages: readonly string[]) {
    super(messages[0] ?? "");
    this.form = form;
    this.messages = messages;
  }
}
