/** Why a subscription does not begin: the errors, and the one text in which the reference's WebSocket tells them. */
import type { ResponseError } from "../operation/errors.ts";
import { RequestRefused } from "../operation/errors.ts";
import { readGraphqlBody, readJsonBody } from "../operation/body.ts";
import { parseDocument } from "../operation/parse.ts";
import type { GraphqlRequest } from "../operation/request.ts";
import type { SubscribeOutcome } from "./service.ts";

type Refused = Extract<SubscribeOutcome, { kind: "refused" }>;

/** What was wrong before anything was run. */
export function refusedRequest(errors: readonly ResponseError[], request: GraphqlRequest): Refused {
  const isList = errors.some(({ locations }) => locations !== undefined) && parses(request);
  const lines = errors.map((error) => inputLine(error) + (isList ? "\n" : ""));
  return { kind: "refused", message: lines.join(""), errors };
}

/** What the first run gave instead of an answer. */
export function refusedAnswer(errors: readonly ResponseError[]): Refused {
  return { kind: "refused", message: errors.map(answerLine).join("\n"), errors };
}

/** Faults of the syntax stand alone; those of validation are a list, each with a line end. */
function parses({ kind, body }: GraphqlRequest): boolean {
  try {
    parseDocument((kind === "json" ? readJsonBody(body) : readGraphqlBody(body)).query);
    return true;
  } catch (error) {
    if (error instanceof RequestRefused) return false;
    throw error;
  }
}

/** Errors with a place or a path are the parser's and the validator's. */
function inputLine({ message, locations, path }: ResponseError): string {
  if (locations === undefined && path === undefined) return message;
  const place = locations === undefined ? "" : `:${locations[0]?.line ?? 0}`;
  let where = "";
  for (const step of path ?? []) {
    if (typeof step === "number") where += `[${step}]`;
    else where += where === "" ? step : `.${step}`;
  }
  return `input${place}: ${where === "" ? "" : `${where} `}${message}`;
}

function answerLine({ message, locations }: ResponseError): string {
  if (locations === undefined || locations.length === 0) return message;
  const places = locations.map(({ line, column }) => `{Line: ${line}, Column: ${column}}`);
  return `${message} (Locations: [${places.join(", ")}])`;
}
