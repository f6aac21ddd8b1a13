/** One request of `@custom(http:)`: what is sent, what came back, and how failures are told (reference/graphql 8.4, 8.5). */
import { Turns } from "../../base/turns.ts";
import { Fault } from "../../model/fault.ts";
import type { RequestBudget } from "../../model/request-budget.ts";
import { outgoingSetting, type OutgoingLimits } from "../../outgoing/limits.ts";
import { OutgoingFailure, type Ask, type OutgoingAnswer } from "../../outgoing/request.ts";
import type { CustomHttp, HeaderPair } from "../schema/custom-http.ts";
import type { ResponseError } from "../operation/errors.ts";
import {
  decodeJson,
  isJsonArray,
  isJsonObject,
  JsonSyntaxError,
  NumberText,
  type JsonValue,
} from "../operation/json.ts";
import type { SelectedField } from "../operation/prepare.ts";
import type { GraphqlRequest } from "../operation/request.ts";
import { evaluationFailed } from "./evaluation-failed.ts";
import { shownUrl } from "./request-url.ts";

/** What the services outside are asked with; one for a process. */
export interface Outgoing {
  readonly ask: Ask;
  readonly limits: OutgoingLimits;
}

export interface PreparedRequest {
  readonly http: CustomHttp;
  readonly url: string;
  /** JSON; "" for none. */
  readonly body: string;
}

export interface RequestResult {
  /** undefined: there is none, and the field has failed. */
  readonly value: JsonValue | undefined;
  /** What the service says itself: of another GraphQL service beside the value, too. */
  readonly told: readonly ResponseError[];
  /** Why there is no value, where the service does not say. */
  readonly reason: string | undefined;
}

interface RequestsOptions extends Outgoing {
  readonly budget: RequestBudget;
  /** Of the client's request. */
  readonly headers: GraphqlRequest["headers"];
  readonly secrets: ReadonlyMap<string, string>;
}

/** The requests that one GraphQL request makes of others. */
export class Requests {
  readonly limits: OutgoingLimits;
  readonly #options: RequestsOptions;
  readonly #turns: Turns;
  #count = 0;

  constructor(options: RequestsOptions) {
    this.limits = options.limits;
    this.#options = options;
    this.#turns = new Turns(options.limits.runningMax);
  }

  /** Counts requests that are going to be made; why they may not be. */
  reserve(count: number): string | undefined {
    const { requestsMax } = this.limits;
    if (this.#count + count > requestsMax) {
      return `a request makes ${requestsMax} requests of others at most (${outgoingSetting("requests")})`;
    }
    this.#count += count;
    return undefined;
  }

  /** Never rejects for what the service does. */
  async send(request: PreparedRequest): Promise<RequestResult> {
    const { observer } = this.#options.budget;
    return this.#turns.take(async () => {
      const endSpan = observer?.begin("custom");
      try {
        return this.#read(request.http, await this.#ask(request));
      } catch (error) {
        if (error instanceof OutgoingFailure) {
          const verb = wordOf(request.http.method?.text ?? "");
          return failed(`${verb} "${shownUrl(request.url)}": ${error.message}`);
        }
        // The request has no memory left for the answer.
        if (error instanceof Fault) return failed(error.message);
        throw error;
      } finally {
        endSpan?.();
      }
    });
  }

  #ask({ http, url, body }: PreparedRequest): Promise<OutgoingAnswer> {
    const { ask, limits, budget, headers, secrets } = this.#options;
    const leftMs = budget.leftMs();
    if (leftMs <= 0) throw new OutgoingFailure("context deadline exceeded");
    return ask(
      {
        url,
        method: http.method?.text ?? "GET",
        headers: headersOf(http, headers, secrets),
        body,
      },
      {
        bytesMax: limits.answerBytesMax,
        bytesSetting: outgoingSetting("answer-bytes"),
        timeoutMs: Math.min(limits.timeoutMs, leftMs),
        ...(limits.timeoutMs < leftMs && { timeSetting: outgoingSetting("time") }),
      },
    );
  }

  #read(http: CustomHttp, { status, text }: OutgoingAnswer): RequestResult {
    this.#options.budget.chargeBytes(2 * text.length);
    if (http.graphql !== undefined) return readGraphql(http, text);
    if (status >= 200 && status <= 299) {
      const decoded = decode(text);
      return "value" in decoded ? { ...decoded, told: [], reason: undefined } : unreadable(decoded);
    }
    const decoded = decode(text);
    const told = "value" in decoded ? toldErrors(decoded.value) : [];
    if (told.length > 0) return { value: undefined, told, reason: undefined };
    return failed(`unexpected error with: ${status}`);
  }
}

/** `Post "http://…"`, as the reference writes methods in errors. */
function wordOf(method: string): string {
  return method.slice(0, 1) + method.slice(1).toLowerCase();
}

function failed(why: string): RequestResult {
  return {
    value: undefined,
    told: [],
    reason: `external request returned an error: ${why}`,
  };
}

function unreadable({ fault }: { readonly fault: string }): RequestResult {
  const reason = `json unmarshalling result of external request failed (with error: ${fault})`;
  return { value: undefined, told: [], reason };
}

function decode(text: string): { readonly value: JsonValue } | { readonly fault: string } {
  try {
    return { value: decodeJson(text) };
  } catch (error) {
    if (error instanceof JsonSyntaxError) return { fault: error.message };
    // V8 descends where it was nested deeper than the slower way allows.
    if (error instanceof RangeError) return { fault: "exceeded max depth" };
    throw error;
  }
}

/** Errors beside data are told, and the data is used. */
function readGraphql({ operation }: CustomHttp, text: string): RequestResult {
  const decoded = decode(text);
  if (!("value" in decoded)) return unreadable(decoded);
  const name = operation?.field?.name.value ?? "";
  const told = toldErrors(decoded.value);
  const data = isJsonObject(decoded.value) ? decoded.value["data"] : undefined;
  const value = isJsonObject(data) && Object.hasOwn(data, name) ? data[name] : undefined;
  if (value !== undefined) return { value, told, reason: undefined };
  const reason = `key: ${name} could not be found in the JSON response returned by external request`;
  return { value: undefined, told, reason };
}

/** `{"errors": […]}` of a service; what is no error there is left out. */
function toldErrors(value: JsonValue): readonly ResponseError[] {
  const errors = isJsonObject(value) ? value["errors"] : undefined;
  if (!isJsonArray(errors)) return [];
  return errors
    .filter(isJsonObject)
    .slice(0, toldMax)
    .map((error) => toPlain(error) as unknown as ResponseError)
    .filter(({ message }) => typeof message === "string");
}

const toldMax = 1000;

/** Numbers in the digits that they came in have a class of their own, which answers do not know. */
function toPlain(value: JsonValue): JsonValue {
  if (value instanceof NumberText) return Number(value.text);
  if (isJsonArray(value)) return value.map(toPlain);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries<JsonValue>(
    Object.entries(value).map(([name, member]) => [name, toPlain(member)]),
  );
}

/** Forwarded headers that the client did not send are sent empty, as by the reference. */
function headersOf(
  { forwardHeaders, secretHeaders }: CustomHttp,
  given: GraphqlRequest["headers"],
  secrets: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> {
  const headers = new Map([["content-type", "application/json"]]);
  const set = ({ remote }: HeaderPair, value: string): void => {
    headers.set(remote.toLowerCase(), value);
  };
  for (const pair of secretHeaders) set(pair, toHeaderBytes(secrets.get(pair.local) ?? ""));
  for (const pair of forwardHeaders) {
    const value = given[pair.local.toLowerCase()];
    set(pair, (typeof value === "object" ? value.join(", ") : value) ?? "");
  }
  return Object.fromEntries(headers);
}

/** A header's characters are bytes. */
export function toHeaderBytes(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** As errors of a field: what has no path of its own gets `path`. */
export function requestErrors(
  { told, reason }: RequestResult,
  field: SelectedField,
  path: readonly string[] | undefined,
  locate: (ordinal: number) => NonNullable<ResponseError["locations"]>[number],
): ResponseError[] {
  const own = path === undefined ? {} : { path };
  const errors = told.map((error) => ({ ...own, ...error }));
  if (reason !== undefined) {
    const message = evaluationFailed(field, reason);
    errors.push({ message, locations: [locate(field.ordinal)], ...own });
  }
  return errors;
}
