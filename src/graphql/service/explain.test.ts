// Goal: a GraphQL query is explained with the caller's rules in it, and a profile's answer is the plain answer.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openGraphqlContext } from "../../../test/support/graphql-context.ts";
import type { GraphqlContext } from "../../../test/support/graphql-context.ts";
import { testNamespace, testSecret, tokenOf } from "../../../test/support/tokens.ts";
import type { PlanStep } from "../../exec/explain.ts";

const sdl = `
  type Note @auth(query: { rule: "query($USER: String!) { queryNote(filter: {owner: {eq: $USER}}) { id } }" })
  { id: ID!  owner: String! @search(by: [hash])  size: Int @search  next: Note
    vec: [Float!] @embedding @search(by: ["hnsw(metric: euclidean)"]) }
  # Dgraph.Authorization {"VerificationKey":"${testSecret}","Header":"X-Auth","Namespace":"${testNamespace}","Algo":"HS256"}
`;

let context: GraphqlContext;
let headers: Record<string, string>;

beforeAll(async () => {
  context = await openGraphqlContext(sdl);
  headers = { "x-auth": tokenOf({ USER: "ann" }) };
  const facts = Array.from({ length: 40 }, (_, i) => {
    const id = `<0x${(i + 1).toString(16)}>`;
    const owner = i % 4 === 0 ? "ann" : "bob";
    return `${id} <dgraph.type> "Note" .\n${id} <Note.owner> "${owner}" .\n${id} <Note.size> "${i}" .\n${id} <Note.vec> "[${i}]" .\n`;
  });
  await context.engine.mutate({
    namespace: 0,
    body: { kind: "rdf", text: `{ set { ${facts.join("")} <0x1> <Note.next> <0x5> .\n } }` },
    startTs: 0,
    commitNow: true,
    timeoutMs: 0,
  });
});

afterAll(() => context.close());

interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string }[];
  readonly extensions?: {
    readonly explain?: Record<string, Report>;
    readonly profile?: Record<string, Report>;
  };
}

interface Report {
  readonly note?: string;
  readonly steps: readonly PlanStep[];
}

async function ask(
  query: string,
  kind: "explain" | "profile" | undefined,
  form: "json" | "text" = "json",
): Promise<Answer> {
  const answer = await context.service.handle({
    kind: "json",
    body: JSON.stringify({ query }),
    headers,
    remoteAddress: "127.0.0.1",
    timeoutMs: 0,
    plan: kind === undefined ? undefined : { kind, form },
  });
  return JSON.parse(new TextDecoder().decode(answer.body)) as Answer;
}

function flatten(steps: readonly PlanStep[]): readonly PlanStep[] {
  return steps.flatMap((step) => [step, ...flatten(step.steps ?? [])]);
}

const query = `{ queryNote(filter: {size: {ge: 4}}, order: {desc: size}, first: 3) { size next { size } } again: queryNote(first: 1) { id } }`;

test("explain runs nothing, and shows the rules as conditions", async () => {
  const answer = await ask(query, "explain");
  expect(answer.data).toEqual({});
  expect(Object.keys(answer.extensions?.explain ?? {})).toEqual(["queryNote", "again"]);
  const steps = flatten(answer.extensions?.explain?.["queryNote"]?.steps ?? []);
  const rule = steps.find(({ text }) => text.includes("rule of Note"));
  expect(rule?.text).toContain('eq Note.owner "ann" (index hash)');
  expect(steps.every((step) => step.out === undefined && step.ms === undefined)).toBe(true);
});

test("a profile comes with the plain answer", async () => {
  const plain = await ask(query, undefined);
  const profiled = await ask(query, "profile");
  expect(profiled.data).toEqual(plain.data);
  const steps = flatten(profiled.extensions?.profile?.["queryNote"]?.steps ?? []);
  const [block] = steps;
  expect(block).toMatchObject({ step: "block", out: 3 });
  expect(steps.some(({ text }) => text.includes("rule of Note"))).toBe(true);
  expect((await ask(query, undefined)).extensions).toBeUndefined();
});

test("of a vector search: the rule decides what the nearest are taken from", async () => {
  const nearest = "{ querySimilarNoteByEmbedding(by: vec, topK: 3, vector: [1]) { size } }";
  const explained = await ask(nearest, "explain");
  const planned = flatten(Object.values(explained.extensions?.explain ?? {})[0]?.steps ?? []);
  expect(planned.map(({ text }) => text)).toContainEqual(expect.stringMatching(/^among and/));
  const profiled = await ask(nearest, "profile");
  expect(profiled.data).toEqual((await ask(nearest, undefined)).data);
  const steps = flatten(Object.values(profiled.extensions?.profile ?? {})[0]?.steps ?? []);
  expect(steps).toContainEqual(
    expect.objectContaining({ text: expect.stringMatching(/^among and/), in: 40, out: 10 }),
  );
});

test("as text, with a table for each root field", async () => {
  const answer = await ask(query, "profile", "text");
  expect(answer.extensions?.profile).toMatch(/^queryNote\nstep +estimated +in +out/);
  expect(answer.extensions?.profile).toMatch(/\nagain\nstep/);
});

test("root fields without a plan say why", async () => {
  const answer = await ask("{ __typename queryNote(first: 1) { id } }", "explain");
  expect(answer.extensions?.explain?.["__typename"]).toMatchObject({ steps: [] });
  expect(answer.extensions?.explain?.["__typename"]?.note).toContain("introspection");
});

test.each(["explain", "profile"] as const)("%s of a mutation is refused, unrun", async (kind) => {
  const mutation = `mutation { addNote(input: [{owner: "ann", size: 1000}]) { numUids } }`;
  const answer = await ask(mutation, kind);
  expect(answer.errors?.[0]?.message).toContain("are for queries");
  expect(await ask(`{ queryNote(filter: {size: {ge: 1000}}) { id } }`, undefined)).toEqual({
    data: { queryNote: [] },
  });
});
