/**
 * A JSON reader that keeps the text of numbers, since an int64 does not fit into a double, and tells objects by their
 * keys in order (the last of equal keys counts). `JSON.parse` can do neither.
 */
import { must } from "../base/assert.ts";
import { Buffer } from "node:buffer";
import { findJsonSyntaxFault, jsonEnd, locateOffset } from "../base/json-syntax.ts";
import { JsonMalformed, type JsonMaker, type JsonSpan, JsonWalk } from "../base/json-walk.ts";
import type { Steps } from "../base/maybe.ts";
import { Fault, type FaultCode } from "../model/fault.ts";
import { defaultLimits, makeLimitFault } from "../model/limits.ts";
import type { Look } from "../model/request-budget.ts";

export type JsonTree = string | boolean | null | JsonNumber | readonly JsonTree[] | JsonMembers;

export type JsonMembers = Map<string, JsonTree>;

export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A member of the outermost object, with the text of its value as it stands there. */
export interface JsonMember {
  readonly value: JsonTree;
  readonly text: string;
}

/** Any JSON text. Throws Fault E_JSON_SYNTAX (`Error parsing JSON at line …`), or E_LIMIT where it nests too deep. */
export function readJson(text: string, depthMax: number = defaultLimits.depthMax): JsonTree {
  const walk = new JsonWalk(text, new IntakeMaker(depthMax));
  guard(text, walk, Infinity);
  return walk.value;
}

/** Characters that are read between two looks: about a millisecond. */
const charactersAtOnce = 32_768;

/**
 * An object, whose members also keep their text; another value without members. Rests every few milliseconds where
 * `look` says so. Throws as `readJson` does.
 */
export function* readJsonInSteps(text: string, depthMax: number, look?: Look): Steps<JsonDocument> {
  const spans = new Map<string, JsonSpan>();
  const walk = new JsonWalk(text, new IntakeMaker(depthMax), spans);
  for (let until = charactersAtOnce; !guard(text, walk, until);) {
    until = walk.position + charactersAtOnce;
    if (look !== undefined) yield look(charactersAtOnce >> 5);
  }
  const { value } = walk;
  if (!(value instanceof Map)) return { value, members: undefined };
  const members = new Map<string, JsonMember>();
  for (const [key, { start, end }] of spans) {
    members.set(key, {
      value: must(value.get(key), "a value for each span"),
      text: text.slice(start, end),
    });
  }
  return { value, members };
}

interface JsonDocument {
  readonly value: JsonTree;
  /** undefined where the text is no object. */
  readonly members: ReadonlyMap<string, JsonMember> | undefined;
}

class IntakeMaker implements JsonMaker<JsonTree, JsonMembers> {
  readonly #depthMax: number;

  constructor(depthMax: number) {
    this.#depthMax = depthMax;
  }

  makeObject(): JsonMembers {
    return new Map();
  }

  setMember(object: JsonMembers, key: string, value: JsonTree): void {
    object.set(key, value);
  }

  makeNumber(text: string): JsonNumber {
    return new JsonNumber(text);
  }

  makeList(items: JsonTree[]): JsonTree {
    return items;
  }

  makePlain(value: string | boolean | null): JsonTree {
    return value;
  }

  enter(depth: number): void {
    if (depth <= this.#depthMax) return;
    throw makeLimitFault("depth", `Exceeded mutation depth limit = ${this.#depthMax}.`);
  }
}

function guard(text: string, walk: JsonWalk<JsonTree, JsonMembers>, until: number): boolean {
  try {
    return walk.step(until);
  } catch (error) {
    if (!(error instanceof JsonMalformed)) throw error;
    throw explainFault(text, walk);
  }
}

/** Behind what does not fit this much decides what is told. */
const lookAhead = 64;

/** Only the place is looked at again, not the whole text. */
function explainFault(text: string, walk: JsonWalk<JsonTree, JsonMembers>): Fault {
  const { prefix, from } = walk.fault;
  for (const end of [Math.max(walk.position, from) + lookAhead, text.length]) {
    const fault = findJsonSyntaxFault(prefix + text.slice(from, end));
    if (fault === undefined || (fault.detail === jsonEnd && end < text.length)) continue;
    const before = Buffer.byteLength(text.slice(0, from));
    return jsonFault(text, before + fault.offset - prefix.length, fault.detail);
  }
  throw jsonFault(text, 0, "invalid JSON");
}

/** `Error parsing JSON at line L, character C: …`, as the reference words what is wrong with a body. */
export function jsonFault(
  text: string,
  offset: number,
  detail: string,
  code: FaultCode = "E_JSON_SYNTAX",
): Fault {
  const { line, character } = locateOffset(text, offset);
  return new Fault(code, `Error parsing JSON at line ${line}, character ${character}: ${detail}\n`);
}
