/** Vector searches beside rules: the nearest of those that the sender may see, by an index and without one. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openGraphqlContext } from "../../../test/support/graphql-context.ts";
import type { GraphqlContext } from "../../../test/support/graphql-context.ts";
import { testNamespace, testSecret, tokenOf } from "../../../test/support/tokens.ts";

const sdl = `
  type User { handle: String! @id }
  interface Paper { id: ID!  place: Int @search  code: String @id  vec: [Float!] @embedding @search(by: ["hnsw(metric: euclidean)"]) }
  type Note implements Paper @auth(query: { or: [
    { rule: "query($USER: String!) { queryNote { owner(filter: {handle: {eq: $USER}}) { handle } } }" }
    { rule: "{$ROLE: {eq: \\"ADMIN\\"}}" }
  ] }) { owner: User }
  type Sheet implements Paper { size: Int }
  type Closed @auth(query: { rule: "{$ROLE: {eq: \\"ADMIN\\"}}" }) { id: ID!  seal: [Float!] @embedding @search(by: ["hnsw(metric: euclidean)"]) }
  # Dgraph.Authorization {"VerificationKey":"${testSecret}","Header":"X-Auth","Namespace":"${testNamespace}","Algo":"HS256"}
`;

const noteCount = 400;

/** Note n is at place n, and as far from the origin; ann has every twentieth, cid the last three, bob all others. */
function ownerOf(place: number): string {
  if (place > noteCount - 3) return "0x3";
  return place % 20 === 0 ? "0x1" : "0x2";
}

async function prepare(context: GraphqlContext): Promise<void> {
  const facts = ["ann", "bob", "cid"].flatMap((name, i) => [
    `<0x${i + 1}> <dgraph.type> "User" .`,
    `<0x${i + 1}> <User.handle> "${name}" .`,
  ]);
  for (let place = 1; place <= noteCount; place++) {
    const id = `<${1000 + place}>`;
    facts.push(
      `${id} <dgraph.type> "Note" .`,
      `${id} <dgraph.type> "Paper" .`,
      `${id} <Paper.place> "${place}" .`,
      `${id} <Paper.code> "note${place}" .`,
      `${id} <Paper.vec> "[${place}, 0]" .`,
      `${id} <Note.owner> <${ownerOf(place)}> .`,
    );
  }
  facts.push('<0x5> <dgraph.type> "Closed" .', '<0x5> <Closed.seal> "[1, 1]" .');
  for (const place of [50, 150, 350]) {
    const id = `<${2000 + place}>`;
    facts.push(
      `${id} <dgraph.type> "Sheet" .`,
      `${id} <dgraph.type> "Paper" .`,
      `${id} <Paper.place> "${place}" .`,
      `${id} <Paper.vec> "[${place}, 0.5]" .`,
    );
  }
  await context.engine.mutate({
    namespace: 0,
    body: { kind: "rdf", text: `{ set { ${facts.join("\n")} } }` },
    startTs: 0,
    commitNow: true,
    timeoutMs: 0,
  });
}

async function useIndex(context: GraphqlContext): Promise<void> {
  await context.dql('{ q(func: similar_to(Paper.vec, 1, "[0, 0]")) { uid } }');
  for (;;) {
    const [index] = context.engine.vectorIndexes;
    if (index?.state === "serving" && index.unlinked === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe.each([
  { way: "with an index", bytesMax: 1 << 28 },
  { way: "without an index", bytesMax: 0 },
])("$way", ({ bytesMax }) => {
  let context: GraphqlContext;

  beforeAll(async () => {
    context = await openGraphqlContext(sdl, undefined, { bytesMax, nodesMin: 100 });
    await prepare(context);
    if (bytesMax > 0) await useIndex(context);
  });
  afterAll(() => context.close());

  async function ask(claims: object | undefined, query: string): Promise<unknown> {
    const headers = claims === undefined ? {} : { "x-auth": tokenOf({ ...claims }) };
    const answer = await context.send(JSON.stringify({ query }), headers);
    expect(answer).not.toHaveProperty("errors");
    return Object.values((answer as { data: object }).data)[0];
  }

  async function places(claims: object | undefined, args: string, type = "Note"): Promise<unknown> {
    const query = `{ querySimilar${type}ByEmbedding(by: vec, ${args}) { place } }`;
    const found = (await ask(claims, query)) as { place: number }[];
    return found.map(({ place }) => place);
  }

  const ann = { USER: "ann" };
  const cid = { USER: "cid" };

  test("hidden nodes take no place among the nearest", async () => {
    expect(await places(ann, "topK: 3, vector: [0, 0]")).toEqual([20, 40, 60]);
    expect(await places({ USER: "bob" }, "topK: 3, vector: [19.1, 0]")).toEqual([19, 18, 21]);
    expect(await places({ ROLE: "ADMIN" }, "topK: 3, vector: [0, 0]")).toEqual([1, 2, 3]);
  });

  test("the farthest are found, too, and no more than there are", async () => {
    expect(await places(cid, "topK: 2, vector: [0, 0]")).toEqual([398, 399]);
    expect(await places(cid, "topK: 50, vector: [0, 0]")).toEqual([398, 399, 400]);
    expect(await places({ USER: "dan" }, "topK: 5, vector: [0, 0]")).toEqual([]);
    expect(await places(undefined, "topK: 5, vector: [0, 0]")).toEqual([]);
    expect(await places(cid, "topK: 0, vector: [0, 0]")).toEqual([]);
  });

  test("with a number of candidates, a distance, and a filter of its own", async () => {
    expect(await places(ann, "topK: 3, ef: 5, vector: [0, 0]")).toEqual([20, 40, 60]);
    const near = "topK: 5, vector: [0, 0], distance_threshold: 45.0";
    expect(await places(ann, near)).toEqual([20, 40]);
    // The filter of a request is no rule: it is asked of the nearest that the sender sees.
    expect(await places(ann, "topK: 3, vector: [0, 0], filter: {place: {ge: 40}}")).toEqual([
      40, 60,
    ]);
  });

  test("by the vector of a node, which must be seen itself", async () => {
    const by = (id: number): string =>
      `{ querySimilarNoteById(id: "${1000 + id}", by: vec, topK: 3) { place } }`;
    expect(await ask(ann, by(20))).toEqual([{ place: 20 }, { place: 40 }, { place: 60 }]);
    expect(await ask(ann, by(21))).toEqual([]);
  });

  test("by the interface, whose types have rules of their own", async () => {
    expect(await places(ann, "topK: 4, vector: [0, 0]", "Paper")).toEqual([20, 40, 50, 60]);
    expect(await places(undefined, "topK: 2, vector: [0, 0]", "Paper")).toEqual([50, 150]);
    expect(await places(ann, "topK: 2, vector: [0, 0]", "Sheet")).toEqual([50, 150]);
  });

  test("a type that is closed to the sender", async () => {
    const query =
      "{ querySimilarClosedByEmbedding(by: seal, topK: 1, vector: [1, 1]) { vector_distance } }";
    expect(await ask(ann, query)).toEqual([]);
    expect(await ask({ ROLE: "ADMIN" }, query)).toEqual([{ vector_distance: 0 }]);
  });

  test("in DQL similar_to takes its number from all", async () => {
    const filter = "@filter(uid_in(Note.owner, 0x1))";
    const text = `{ q(func: similar_to(Paper.vec, 21, "[0, 0]")) ${filter} { Paper.place } }`;
    expect(await context.dql(text)).toEqual({ q: [{ "Paper.place": 20 }] });
  });
});
