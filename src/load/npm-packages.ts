/** The sample: who depends on whom among the npm packages of a project, loaded through the interfaces of every client. */
import { printUid } from "../model/uid.ts";
import { type Client, findClientRefusal, leaseUids, postOrFail } from "./client.ts";
import type { NpmPackage } from "./npm-tree.ts";
import { makeSampleSdl } from "./sample-sdl.ts";
import { saysNoLambda } from "./server-message.ts";
import { readSampleSecret } from "./sample-tokens.ts";

interface SampleOptions {
  readonly packages: readonly NpmPackage[];
  readonly client: Client;
  /** What tokens are signed with where the server has no sample yet. */
  readonly secret: string;
  readonly onProgress: (factCount: number, factTotal: number) => void;
}

interface SampleCounts {
  readonly packageCount: number;
  readonly factCount: number;
  /** False where the server has no lambda server: the fields that resolvers compute are left out. */
  readonly hasLambda: boolean;
}

const batchSize = 2000;

/** Loads packages; nodes that the server has from an earlier load are the same nodes again. */
export async function loadSample(options: SampleOptions): Promise<SampleCounts> {
  const { packages, client, onProgress } = options;
  const hasLambda = await postSchema(client, options.secret);
  const nodes = await assignNodes(packages, client);
  const facts = listSampleFacts(packages, nodes);
  onProgress(0, facts.length);
  for (let at = 0; at < facts.length; at += batchSize) {
    const body = `{ set {\n${facts.slice(at, at + batchSize).join("\n")}\n} }`;
    await postOrFail(client, "/mutate?commitNow=true", "application/rdf", body);
    onProgress(Math.min(at + batchSize, facts.length), facts.length);
  }
  return { packageCount: packages.length, factCount: facts.length, hasLambda };
}

/** With what resolvers compute where the server has resolvers. Tokens of an earlier load stay good. */
async function postSchema(client: Client, newSecret: string): Promise<boolean> {
  const secret = (await readSampleSecret(client)) ?? newSecret;
  const whole = makeSampleSdl({ secret, hasLambda: true });
  const refusal = findClientRefusal(await client.post("/admin/schema", "text/plain", whole), true);
  if (refusal === undefined) return true;
  const hasLambda = !saysNoLambda(refusal.message);
  const sdl = makeSampleSdl({ secret, hasLambda });
  await postOrFail(client, "/admin/schema", "text/plain", sdl);
  return hasLambda;
}

/** Predicate that names a node, and its name: `License.name MIT`. */
function nodeKey(predicate: string, name: string): string {
  return `${predicate} ${name}`;
}

async function assignNodes(
  packages: readonly NpmPackage[],
  client: Client,
): Promise<ReadonlyMap<string, number>> {
  const nodes = await readNodes(client);
  const missing = [
    ...new Set([
      ...packages.flatMap(listNodeKeys),
      ...noteKeys.map((key) => nodeKey("Note.key", key)),
    ]),
  ].filter((key) => !nodes.has(key));
  if (missing.length === 0) return nodes;
  const first = await leaseUids(client, missing.length);
  for (const [i, key] of missing.entries()) nodes.set(key, first + i);
  return nodes;
}

function listNodeKeys(one: NpmPackage): string[] {
  const keys = one.keywords.map((word) => nodeKey("Keyword.word", word));
  if (one.license !== undefined) keys.push(nodeKey("License.name", one.license));
  return [nodeKey("Package.path", one.path), ...keys];
}

const namePredicates = ["Package.path", "Keyword.word", "License.name", "Note.key"];

async function readNodes(client: Client): Promise<Map<string, number>> {
  const blocks = namePredicates.map((name, i) => `n${i}(func: has(${name})) { uid name: ${name} }`);
  const answer = await postOrFail(client, "/query", "application/dql", `{ ${blocks.join(" ")} }`);
  const { data } = answer.json as { data: Record<string, { uid: string; name: string }[]> };
  const nodes = new Map<string, number>();
  for (const [i, predicate] of namePredicates.entries()) {
    for (const node of data[`n${i}`] ?? [])
      nodes.set(nodeKey(predicate, node.name), Number(node.uid));
  }
  return nodes;
}

/** Lines of RDF, both directions of every edge, as the GraphQL API would have written them. */
function listSampleFacts(
  packages: readonly NpmPackage[],
  nodes: ReadonlyMap<string, number>,
): string[] {
  const facts: string[] = [];
  const node = (predicate: string, name: string): string =>
    `<${printUid(nodes.get(nodeKey(predicate, name)) ?? 0)}>`;
  const say = (subject: string, predicate: string, object: string): void => {
    facts.push(`${subject} <${predicate}> ${object} .`);
  };
  const link = (
    from: string,
    to: string,
    names: readonly [string, string],
    facet: string,
  ): void => {
    say(from, names[0], to + facet);
    say(to, names[1], from + facet);
  };
  const named = new Set<string>();
  const introduce = (type: string, predicate: string, name: string): string => {
    const uid = node(predicate, name);
    if (named.has(uid)) return uid;
    named.add(uid);
    say(uid, "dgraph.type", quote(type));
    say(uid, predicate, quote(name));
    return uid;
  };
  for (const one of packages) {
    const uid = introduce("Package", "Package.path", one.path);
    say(uid, "Package.name", quote(one.name));
    say(uid, "Package.version", quote(one.version));
    if (one.description !== undefined) say(uid, "Package.description", quote(one.description));
    say(uid, "Package.sizeBytes", quote(String(one.sizeBytes)));
    say(uid, "Package.fileCount", quote(String(one.fileCount)));
    if (one.license !== undefined) {
      const license = introduce("License", "License.name", one.license);
      link(uid, license, ["Package.license", "License.packages"], "");
    }
    for (const word of one.keywords) {
      const keyword = introduce("Keyword", "Keyword.word", word);
      link(uid, keyword, ["Package.keywords", "Keyword.packages"], "");
    }
    for (const { path, range, kind } of one.dependencies) {
      const target = node("Package.path", path);
      const facets = ` (kind=${quote(kind)}, range=${quote(range)})`;
      link(uid, target, ["Package.dependencies", "Package.dependents"], facets);
    }
  }
  for (const { key, user, text, path } of makeNotes(packages)) {
    const uid = introduce("Note", "Note.key", key);
    say(uid, "Note.user", quote(user));
    say(uid, "Note.text", quote(text));
    link(uid, node("Package.path", path), ["Note.about", "Package.notes"], "");
  }
  return facts;
}

interface SampleNote {
  readonly key: string;
  readonly user: string;
  readonly text: string;
  readonly path: string;
}

const noteKeys = ["dev-1", "ops-1"] as const;

/** What each of the two users has noted: of the package that most others ask for, and of the largest. */
function makeNotes(packages: readonly NpmPackage[]): SampleNote[] {
  const asked = new Map<string, number>();
  for (const { path } of packages.flatMap((one) => one.dependencies)) {
    asked.set(path, (asked.get(path) ?? 0) + 1);
  }
  const largest = maxOf(packages, ({ sizeBytes }) => sizeBytes);
  const popular = maxOf(packages, ({ path }) => asked.get(path) ?? 0);
  if (largest === undefined || popular === undefined) return [];
  const [dev, ops] = noteKeys;
  const count = asked.get(popular.path) ?? 0;
  return [
    {
      key: dev,
      user: "dev",
      text: `${count} packages ask for it: update with care`,
      path: popular.path,
    },
    {
      key: ops,
      user: "ops",
      text: `the largest, ${largest.sizeBytes} bytes: needed?`,
      path: largest.path,
    },
  ];
}

function maxOf<T>(list: readonly T[], measure: (one: T) => number): T | undefined {
  return list.reduce<T | undefined>(
    (best, one) => (best === undefined || measure(one) > measure(best) ? one : best),
    undefined,
  );
}

/** A literal of N-Quads. */
function quote(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, escapeRune);
}

function escapeRune(rune: string): string {
  return `\\u${rune.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
