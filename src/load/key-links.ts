/**
 * Nodes that are there already, found by the values of their keys (`@id` fields, predicates with `@unique`): before a
 * load its files are looked through for such values, and what names a node in them is linked to the node that has the
 * value, so that none is there twice.
 */
import { unquote } from "../base/unquote.ts";
import { Fault } from "../model/fault.ts";
import { findClientRefusal, type Client } from "./client.ts";
import { readInput, type InputFile } from "./input-files.ts";
import { JsonSplitter } from "./json-objects.ts";

/** A value of a key, on what the files call the node. */
interface KeyFact {
  /** `_:a`, an IRI or a number. */
  readonly name: string;
  readonly predicate: string;
  readonly value: string;
}

/** Values asked for in one query. */
const valuesAtOnce = 200;

interface KeyLinkOptions {
  readonly files: readonly InputFile[];
  /** The predicates whose values are keys. */
  readonly keys: readonly string[];
  readonly client: Client;
  /** Told what names a node that is there; of names of one value that is not there, the later ones with the first. */
  readonly link: (name: string, uid: number) => void;
  readonly join: (name: string, first: string) => Promise<void>;
}

/** Gives how many names were linked to nodes that are there. */
export async function linkKeys(options: KeyLinkOptions): Promise<number> {
  const { keys } = options;
  if (keys.length === 0) return 0;
  let linked = 0;
  const firsts = new Map<string, string>();
  let waiting: KeyFact[] = [];
  const settle = async (): Promise<void> => {
    const uids = await findNodes(options.client, waiting);
    for (const [i, { name, predicate, value }] of waiting.entries()) {
      const uid = uids[i];
      const key = JSON.stringify([predicate, value]);
      const first = firsts.get(key);
      if (uid !== undefined) {
        options.link(name, uid);
        linked++;
      } else if (first === undefined) firsts.set(key, name);
      else if (first !== name) await options.join(name, first);
    }
    waiting = [];
  };
  for await (const fact of readKeyFacts(options.files, new Set(keys))) {
    waiting.push(fact);
    if (waiting.length >= valuesAtOnce) await settle();
  }
  if (waiting.length > 0) await settle();
  return linked;
}

async function findNodes(
  client: Client,
  facts: readonly KeyFact[],
): Promise<readonly (number | undefined)[]> {
  const blocks = facts.map(({ predicate, value }, i) => {
    return `q${i}(func: eq(<${predicate}>, ${JSON.stringify(value)}), first: 1) { uid }`;
  });
  const answer = await client.post("/query", "application/dql", `{ ${blocks.join("\n")} }`);
  const refusal = findClientRefusal(answer, true);
  if (refusal !== undefined) throw new Fault("E_STARTUP", refusal.message);
  const { data } = answer.json as { data: Record<string, { uid: string }[] | undefined> };
  return facts.map((_, i) => {
    const uid = data[`q${i}`]?.[0]?.uid;
    return uid === undefined ? undefined : Number(uid);
  });
}

async function* readKeyFacts(
  files: readonly InputFile[],
  keys: ReadonlySet<string>,
): AsyncGenerator<KeyFact> {
  for (const file of files) {
    yield* file.kind === "rdf" ? readRdfKeys(file, keys) : readJsonKeys(file, keys);
  }
}

const keyLine =
  /^\s*(?:<(?<iri>[^>]*)>|(?<blank>_:\S+))\s*<(?<predicate>[^>]*)>\s*(?<value>"(?:[^"\\]|\\.)*")/;

async function* readRdfKeys(file: InputFile, keys: ReadonlySet<string>): AsyncGenerator<KeyFact> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of readInput(file, () => {})) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* findInLines(lines, keys);
  }
  yield* findInLines([rest + decoder.decode()], keys);
}

function* findInLines(lines: readonly string[], keys: ReadonlySet<string>): Generator<KeyFact> {
  for (const line of lines) {
    const { iri, blank, predicate, value } = keyLine.exec(line)?.groups ?? {};
    if (predicate === undefined || value === undefined || !keys.has(predicate)) continue;
    const text = unquote(value);
    const name = iri ?? blank;
    if (text !== undefined && name !== undefined) yield { name, predicate, value: text };
  }
}

async function* readJsonKeys(file: InputFile, keys: ReadonlySet<string>): AsyncGenerator<KeyFact> {
  const decoder = new TextDecoder();
  const splitter = new JsonSplitter(file.name);
  for await (const chunk of readInput(file, () => {})) {
    for (const { text } of splitter.push(decoder.decode(chunk, { stream: true }))) {
      yield* findInJson(JSON.parse(text), keys);
    }
  }
}

/** Of objects that have a name: those without one are new nodes. */
function* findInJson(json: unknown, keys: ReadonlySet<string>): Generator<KeyFact> {
  if (typeof json !== "object" || json === null) return;
  const { uid } = json as { readonly uid?: unknown };
  for (const [predicate, value] of Object.entries(json)) {
    const isValue = typeof value === "string" || typeof value === "number";
    if (typeof uid === "string" && isValue && keys.has(predicate)) {
      yield { name: uid, predicate, value: String(value) };
    }
    yield* findInJson(value, keys);
  }
}
