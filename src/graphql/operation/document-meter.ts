/**
 * What one document may cost before it runs. Whatever loops over the document's parts, or over what its fragments make of
 * them, charges it, so that short documents that stand for long ones are refused before they are worked out.
 */
import { defaultLimits, nameLimit, type Limits } from "../../model/limits.ts";
import { refuseRequest } from "./errors.ts";
import type { RequestRefused } from "./errors.ts";

export type DocumentLimits = Pick<
  Limits,
  | "depthMax"
  | "documentFieldsMax"
  | "documentRootsMax"
  | "documentTokensMax"
  | "filterConditionsMax"
>;

/** Parts that are looked at for each field that a document may have: its arguments, directives, and the checks of it. */
const stepsPerField = 20;

export class DocumentMeter {
  readonly limits: DocumentLimits;
  readonly #stepsMax: number;
  #steps = 0;
  #fields = 0;

  constructor(limits: DocumentLimits = defaultLimits) {
    this.limits = limits;
    this.#stepsMax = limits.documentFieldsMax * stepsPerField;
  }

  /** Steps so far. */
  get steps(): number {
    return this.#steps;
  }

  /** Fields so far. */
  get fields(): number {
    return this.#fields;
  }

  /** Looked at so many parts. Throws RequestRefused. */
  charge(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.#stepsMax) throw tooLarge(this.limits);
  }

  /** Put so many fields in their places. Throws RequestRefused. */
  chargeFields(fields: number): void {
    this.#fields += fields;
    if (this.#fields > this.limits.documentFieldsMax) throw tooLarge(this.limits);
  }
}

function tooLarge({ documentFieldsMax }: DocumentLimits): RequestRefused {
  const text = `the document has more than ${documentFieldsMax} fields, or checks of their number, with its fragments in their places`;
  return refuseRequest(nameLimit("document-fields", text));
}

/** Half as many as of DQL: the tree of a GraphQL document takes twice as long to make. */
export function tokensMaxOf({ documentTokensMax }: DocumentLimits): number {
  return Math.floor(documentTokensMax / 2);
}

export function tooLong(limits: DocumentLimits): RequestRefused {
  const text = `the document has more than ${tokensMaxOf(limits)} tokens`;
  return refuseRequest(nameLimit("document-tokens", text));
}

export function tooDeep({ depthMax }: DocumentLimits): RequestRefused {
  return refuseRequest(nameLimit("depth", `the document is nested deeper than ${depthMax} levels`));
}

export function tooManyRoots({ documentRootsMax }: DocumentLimits): RequestRefused {
  const text = `the operation has more than ${documentRootsMax} root fields`;
  return refuseRequest(nameLimit("document-roots", text));
}
