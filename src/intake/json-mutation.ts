/** JSON mutations: bodies of POST /mutate with `application/json` (reference/dql 1.4). */
import { runSteps, type Steps } from "../base/maybe.ts";
import { unquote } from "../base/unquote.ts";
import { Fault } from "../model/fault.ts";
import { defaultLimits } from "../model/limits.ts";
import type { Mutation } from "../model/nquad.ts";
import type { Look } from "../model/request-budget.ts";
import { type Hints, JsonFactReader } from "./json-facts.ts";
import { jsonFault, type JsonMember, type JsonTree, readJsonInSteps } from "./json-reader.ts";
import { FactSink } from "./statement.ts";

interface JsonMutationRequest {
  /** "" where there is none. */
  readonly query: string;
  /** Values of the query's variables, by their names with `$`; undefined where there are none. */
  readonly variables: ReadonlyMap<string, string> | undefined;
  readonly mutations: readonly JsonMutation[];
}

interface JsonMutation extends Mutation {
  /** `@if(…)`, or "". */
  readonly condition: string;
}

/** The parts of one mutation before its facts are read. */
interface MutationParts {
  readonly set: JsonTree | undefined;
  readonly delete: JsonTree | undefined;
  readonly condition: string;
}

/**
 * A body: the single form (`set`, `delete`, `cond`) is mutation 0, those of `mutations` follow; entries with neither
 * set nor delete are dropped. Unknown keys say nothing. Throws Fault E_JSON_SYNTAX or E_JSON_TYPE for what is no JSON of
 * this form, E_JSON_FACTS and E_MUTATION for facts; E_LIMIT for more than `depthMax` levels.
 */
export function parseJsonMutation(text: string, depthMax?: number): JsonMutationRequest {
  return runSteps(parseJsonMutationInSteps(text, depthMax));
}

/** `parseJsonMutation` that rests every few milliseconds where `look` says so. */
export function* parseJsonMutationInSteps(
  text: string,
  depthMax: number = defaultLimits.depthMax,
  look?: Look,
): Steps<JsonMutationRequest> {
  const { value, members } = yield* readJsonInSteps(text, depthMax, look);
  if (members === undefined) {
    // A lone null is an empty request.
    return { query: "", variables: undefined, mutations: failShape(text, value, topType) };
  }
  const query = readText(members.get("query"));
  const variables = readVariables(members.get("variables"));
  const parts: MutationParts[] = [];
  takeParts(members, parts);
  for (const entry of readEntries(members.get("mutations"))) takeParts(entry, parts);
  const mutations: JsonMutation[] = [];
  for (const part of parts) mutations.push(yield* toMutation(part, look));
  return { query, variables, mutations };
}

/** An object of texts. What is none is refused in the words that `/query` has for it. */
function readVariables(member: JsonMember | undefined): ReadonlyMap<string, string> | undefined {
  if (member === undefined || member.value === null) return undefined;
  const { value, text } = member;
  if (!(value instanceof Map)) return new Map(failShape(text, value, variablesType));
  const variables = new Map<string, string>();
  for (const [name, one] of value) {
    if (typeof one !== "string") {
      throw new Fault("E_JSON_TYPE", `json: the variable ${name} is not a string`);
    }
    variables.set(name, one);
  }
  return variables;
}

const variablesType = "map[string]string";

/** Facts alone: what is set and what is deleted, each an object or a list of them; "" for none. Throws as above. */
export function* parseJsonFactsInSteps(
  text: { readonly set: string; readonly delete: string },
  depthMax: number = defaultLimits.depthMax,
  look?: Look,
): Steps<Mutation> {
  const read = function* (facts: string): Steps<JsonTree | undefined> {
    return facts === "" ? undefined : (yield* readJsonInSteps(facts, depthMax, look)).value;
  };
  const set = yield* read(text.set);
  const deletes = yield* read(text.delete);
  return yield* toMutation({ set, delete: deletes, condition: "" }, look);
}

const topType = "map[string]*alpha.skipJSONUnmarshal";

/** A text or list in place of an object. null is let pass as empty. */
function failShape(text: string, value: JsonTree, type: string): [] {
  if (value === null) return [];
  const what = Array.isArray(value)
    ? "array"
    : typeof value === "string"
      ? "string"
      : typeof value === "boolean"
        ? "bool"
        : value instanceof Map
          ? "object"
          : "number";
  const offset = what === "array" || what === "object" ? 1 : text.trimEnd().length;
  const detail = `json: cannot unmarshal ${what} into Go value of type ${type}`;
  throw jsonFault(text, offset, detail, "E_JSON_TYPE");
}

function readEntries(member: JsonMember | undefined): ReadonlyMap<string, JsonMember>[] {
  if (member === undefined || member.value === null) return [];
  const { value, text } = member;
  if (!Array.isArray(value)) return failShape(text, value, `[]${topType}`);
  return (value as readonly JsonTree[]).flatMap((item) => {
    if (item === null) return [];
    if (!(item instanceof Map)) return failShape(text, item, topType);
    const entry = new Map<string, JsonMember>();
    for (const [key, part] of item) {
      // The text of what is nested this deep was not kept; only that of a condition is asked for.
      const partText = typeof part === "string" ? JSON.stringify(part) : "";
      entry.set(key, { value: part, text: partText });
    }
    return [entry];
  });
}

function takeParts(members: ReadonlyMap<string, JsonMember>, parts: MutationParts[]): void {
  const set = members.get("set")?.value ?? undefined;
  const deleted = members.get("delete")?.value ?? undefined;
  const condition = readText(members.get("cond"));
  if (set === undefined && deleted === undefined) return;
  parts.push({ set, delete: deleted, condition });
}

/** `query` and `cond`: texts, unquoted by other rules than JSON's (`\/` is refused). */
function readText(member: JsonMember | undefined): string {
  if (member === undefined || member.value === null) return "";
  const text = typeof member.value === "string" ? unquote(member.text) : undefined;
  if (text === undefined) throw new Fault("E_JSON_SYNTAX", "invalid syntax");
  return text;
}

function* toMutation(parts: MutationParts, look?: Look): Steps<JsonMutation> {
  const sink = new FactSink();
  const hints: Hints = new Map();
  const { set, delete: deletes } = parts;
  if (set !== undefined) yield* new JsonFactReader(sink, "set", hints, look).read(set);
  if (deletes !== undefined) yield* new JsonFactReader(sink, "delete", hints, look).read(deletes);
  sink.finish();
  return { set: sink.set, delete: sink.delete, hints, condition: parts.condition };
}
