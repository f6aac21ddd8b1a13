/** The sample: who depends on whom among the npm packages of a project, loaded through the doors of every client. */
import { printUid } from "../model/uid.ts";
import { type Client, leaseUids, postOrFail } from "./client.ts";
import { type NpmPackage, readNpmTree } from "./npm-tree.ts";

/** The API of the sample. Ranges are facets of `Package.dependencies`, which GraphQL does not show and DQL does. */
export const sampleSdl = `"""A package as it lies in node_modules."""
type Package {
  id: ID!
  path: String! @id
  name: String! @search(by: [hash, term, trigram])
  version: String! @search(by: [exact])
  description: String @search(by: [fulltext])
  license: License @hasInverse(field: packages)
  keywords: [Keyword] @hasInverse(field: packages)
  sizeBytes: Int @search
  fileCount: Int @search
  dependencies: [Package] @hasInverse(field: dependents)
  dependents: [Package]
}

type Keyword {
  word: String! @id @search(by: [hash, trigram])
  packages: [Package]
}

type License {
  name: String! @id
  packages: [Package]
}
`;

export interface SampleOptions {
  readonly project: string;
  readonly client: Client;
  readonly onProgress: (factCount: number, factTotal: number) => void;
}

export interface SampleCounts {
  readonly packageCount: number;
  readonly factCount: number;
}

const batchSize = 2000;

/** Loads a project's packages; nodes that the server has from an earlier load are the same nodes again. */
export async function loadSample(options: SampleOptions): Promise<SampleCounts> {
  const { project, client, onProgress } = options;
  const packages = readNpmTree(project);
  await postOrFail(client, "/admin/schema", "text/plain", sampleSdl);
  const nodes = await assignNodes(packages, client);
  const facts = listSampleFacts(packages, nodes);
  onProgress(0, facts.length);
  for (let at = 0; at < facts.length; at += batchSize) {
    const body = `{ set {\n${facts.slice(at, at + batchSize).join("\n")}\n} }`;
    await postOrFail(client, "/mutate?commitNow=true", "application/rdf", body);
    onProgress(Math.min(at + batchSize, facts.length), facts.length);
  }
  return { packageCount: packages.length, factCount: facts.length };
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
  const missing = [...new Set(packages.flatMap(listNodeKeys))].filter((key) => !nodes.has(key));
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

const namePredicates = ["Package.path", "Keyword.word", "License.name"];

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
export function listSampleFacts(
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
  return facts;
}

/** A literal of N-Quads. */
function quote(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, escapeRune);
}

function escapeRune(rune: string): string {
  return `\\u${rune.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
