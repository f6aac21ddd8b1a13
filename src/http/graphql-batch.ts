/** Several operations in one body, as a list: cut apart, and their answers put together again. Texts stay what they are. */
import { Buffer } from "node:buffer";
import { Fault } from "../model/fault.ts";

/** Whether a body of JSON is a list. */
export function isBatch(body: string): boolean {
  return /^[ \t\r\n]*\[/.test(body);
}

/** The elements of a list, each as it stands there. Fault E_GRAPHQL_REQUEST for more than `max`, for none, and for what is no list. */
export function splitBatch(body: string, max: number): readonly string[] {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw refuse("Not a valid GraphQL request body: the list of operations is not JSON");
  }
  if (!Array.isArray(value) || value.length === 0) {
    throw refuse("Not a valid GraphQL request body: an empty list of operations");
  }
  if (value.length > max) {
    throw refuse(`A request may have ${max} operations, not ${value.length} (--graphql batch)`);
  }
  return cutElements(body);
}

/** Of a list that is JSON. */
function cutElements(body: string): string[] {
  const elements: string[] = [];
  let depth = 0;
  let start = 0;
  for (const { 0: token, index } of body.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},]/gs)) {
    if (token === "[" || token === "{") {
      if (++depth === 1) start = index + 1;
    } else if (token === "]" || token === "}") depth--;
    if ((depth === 1 && token === ",") || depth === 0) {
      elements.push(body.slice(start, index).trim());
      start = index + 1;
    }
  }
  return elements;
}

export function joinAnswers(answers: readonly Uint8Array[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const answer of answers) parts.push(parts.length === 0 ? opening : comma, answer);
  return Buffer.concat([...parts, closing]);
}

const opening = Buffer.from("[");
const comma = Buffer.from(",");
const closing = Buffer.from("]");

function refuse(message: string): Fault {
  return new Fault("E_GRAPHQL_REQUEST", message);
}
