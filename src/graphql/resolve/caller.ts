/**
 * Who sends a request: its token, judged by the schema that serves it, and the rights that follow
 * (reference/graphql 6.2).
 */
import { noClaims, TokenRefused, TokenVerifier } from "../../auth/token.ts";
import type { Claims } from "../../auth/token.ts";
import type { Clock } from "../../base/clock.ts";
import { andThen } from "../../base/maybe.ts";
import type { MaybePromise } from "../../base/maybe.ts";
import type { GetText } from "../../outgoing/request.ts";
import type { CompiledSchema } from "../schema/compiled-schema.ts";
import { refuseRequest } from "../operation/errors.ts";
import type { Guard } from "./lower-context.ts";
import { Rights } from "./rule-guard.ts";
import type { GraphqlRequest } from "../operation/request.ts";

export interface Caller {
  /** Undefined where the schema has no rules. */
  readonly guard: Guard | undefined;
  /** Why the caller's token is not believed: every field that rules could be about ends with it. */
  readonly refusal: string | undefined;
  /** Of the token; undefined where it is not asked for, or not believed. */
  readonly claims: Claims | undefined;
}

/** Of schemas without rules and tokens. */
const anyCaller: Caller = { guard: undefined, refusal: undefined, claims: undefined };

/** Tells the callers of one schema apart. */
export class CallerReader {
  readonly #schema: CompiledSchema;
  readonly #verifier: TokenVerifier | undefined;
  readonly #header: string;
  readonly #callers = new WeakMap<Claims, Caller>();

  constructor(schema: CompiledSchema, clock: Clock, getText: GetText) {
    const { authorization } = schema.meta;
    this.#schema = schema;
    this.#verifier =
      authorization === undefined ? undefined : new TokenVerifier(authorization, clock, getText);
    this.#header = authorization?.header.toLowerCase() ?? "";
  }

  /** Throws RequestRefused for a header that has no form. */
  read(headers: GraphqlRequest["headers"]): MaybePromise<Caller> {
    const verifier = this.#verifier;
    if (verifier === undefined) {
      return this.#schema.rules === undefined ? anyCaller : this.#callerOf(noClaims);
    }
    try {
      const claims = verifier.identify(this.#headerOf(headers));
      const caller = andThen(claims, (known) => this.#callerOf(known));
      return caller instanceof Promise ? caller.catch(toRefused) : caller;
    } catch (error) {
      return toRefused(error);
    }
  }

  /** When the token stops to hold, in milliseconds since 1970; Infinity for never. After `read`. */
  expiryMs(headers: GraphqlRequest["headers"]): number {
    return this.#verifier?.expiryMs(this.#headerOf(headers)) ?? Infinity;
  }

  #headerOf(headers: GraphqlRequest["headers"]): string | undefined {
    const given = headers[this.#header];
    return typeof given === "object" ? given[0] : given;
  }

  #callerOf(claims: Claims): Caller {
    const { rules } = this.#schema;
    if (rules === undefined) return anyCaller;
    let caller = this.#callers.get(claims);
    if (caller === undefined) {
      caller = { guard: new Rights(rules, claims), refusal: undefined, claims };
      this.#callers.set(claims, caller);
    }
    return caller;
  }
}

function toRefused(error: unknown): Caller {
  if (!(error instanceof TokenRefused)) throw error;
  if (error.isHeaderFault) throw refuseRequest(error.message);
  return { guard: undefined, refusal: error.message, claims: undefined };
}
