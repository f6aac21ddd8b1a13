/** What `@custom(http:)` says, read once (reference/graphql 8.1): for the checks of a schema, and for requests. */
import type { BodyTemplate, TemplateFault } from "./custom-body.ts";
import type { RemoteOperation } from "./custom-operation.ts";
import type { UrlVariable } from "./custom-url.ts";
import type { SdlPosition } from "./sdl-position.ts";

export const httpMethods: readonly string[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** A member of `http` as it is written; `text` without quotes, "" for lists, objects and null. */
export interface Written {
  readonly text: string;
  readonly at: SdlPosition;
}

/** `"remote:local"`, or one name for both. */
export interface HeaderPair {
  readonly written: string;
  /** As the service outside knows it. */
  readonly remote: string;
  /** As the client sends it; of a secret: its name. */
  readonly local: string;
  /** More than two names: refused. */
  readonly isOdd: boolean;
}

/** The members of `http`; undefined for those that are left out. */
export interface CustomHttp {
  readonly url: Written | undefined;
  readonly urlVariables: readonly UrlVariable[];
  readonly method: Written | undefined;
  readonly mode: Written | undefined;
  readonly isBatch: boolean;
  readonly body: Written | undefined;
  /** Of the body; undefined: there is none, or it cannot be read. */
  readonly template: BodyTemplate | undefined;
  readonly templateFault: TemplateFault | undefined;
  readonly graphql: Written | undefined;
  /** Of `graphql`. */
  readonly operation: RemoteOperation | undefined;
  readonly forwardHeaders: readonly HeaderPair[];
  readonly secretHeaders: readonly HeaderPair[];
  readonly introspectionHeaders: readonly HeaderPair[];
  readonly skipIntrospection: Written | undefined;
  readonly skips: boolean;
}

/** As the reference reads a boolean. */
export const trueTexts: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);
export const booleanTexts: ReadonlySet<string> = new Set(
  [...trueTexts].concat("0", "f", "F", "false", "FALSE", "False"),
);
