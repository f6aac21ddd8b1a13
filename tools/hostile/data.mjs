// What the servers of `npm run hostile` hold: a graph whose levels multiply, texts that make large answers, and a schema.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as constructs from "./constructs.mjs";
import * as rules from "./rules.mjs";

export const nodeCount = 3_000;
/** Each node points at so many others. */
const edgeCount = 6;
const textCount = 50;
const textBytes = 1024 * 1024;

export const schema = `
to: [uid] @reverse .
name: string @index(exact) .
score: int @index(int) .
words: string @index(fulltext) .
large: string .
`;

export const sdl = `
type Person @withSubscription {
  id: ID!
  name: String! @search(by: [hash]) @dgraph(pred: "name")
  score: Int @search @dgraph(pred: "score")
  to: [Person] @dgraph(pred: "to")
}`;

/** Beside the others where resolvers run. */
export const lambdaSdl = `${sdl}
type Query { spin: Int @lambda  allocate: Int @lambda  shout: Int @lambda }`;

const resolvers = `
self.addGraphQLResolvers({
  "Query.spin": () => { for (;;) {} },
  "Query.allocate": () => { const kept = []; for (;;) kept.push(new Array(1e5).fill(kept.length)); },
  "Query.shout": () => { const text = "x".repeat(1 << 20); for (let i = 0; i < 1500; i++) console.log(text); return 1; },
});`;

export function writeResolvers(folder) {
  const file = join(folder, "resolvers.js");
  writeFileSync(file, resolvers);
  return file;
}

export async function fill(server) {
  await server.post("/alter", "text/plain", schema);
  for (let from = 1; from <= nodeCount; from += 500) {
    const facts = [];
    for (let i = from; i < from + 500; i++) {
      facts.push(`<${i}> <name> "person ${i}" .`, `<${i}> <score> "${i % 100}" .`);
      facts.push(`<${i}> <dgraph.type> "Person" .`);
      for (let k = 0; k < edgeCount; k++) {
        facts.push(`<${i}> <to> <${1 + ((i * 31 + k * 997) % nodeCount)}> .`);
      }
    }
    await server.mutate(facts.join("\n"));
  }
  for (let i = 0; i < textCount; i++) {
    await server.mutate(`<${nodeCount + 1 + i}> <large> "${String(i % 10).repeat(textBytes)}" .`);
  }
  if (server.hasConstructs) {
    await server.post("/alter", "text/plain", constructs.schema);
    await server.mutate(constructs.facts);
  }
  await server.post("/admin/schema", "text/plain", sdlOf(server));
  if (server.hasRules) await rules.fillNotes(server, 100_000);
}

/** Constructs, and attacks on rules, are requests for schemas of their own. */
function sdlOf(server) {
  if (server.hasConstructs) return constructs.sdl;
  if (server.hasRules) return rules.sdl;
  return server.hasLambda ? lambdaSdl : sdl;
}
