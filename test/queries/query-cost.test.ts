// Goal: `--limit query-cost` refuses a query before it runs, in DQL, GraphQL and upserts alike; without it none is.
import { expect, test } from "vitest";
import { queryDefaults } from "../../src/engine/engine.ts";
import { openEngine } from "../../src/engine/open.ts";
import { systemClock } from "../../src/base/clock.ts";
import { openGraphqlService } from "../../src/graphql/service/open-service.ts";
import { defaultLimits } from "../../src/model/limits.ts";
import { openMemoryStore } from "../../src/stores/open.ts";
import { deriveFill } from "../../src/write/fill.ts";

async function open(queryCostMax: number) {
  const limits = { ...defaultLimits, queryCostMax };
  const engine = await openEngine({ store: openMemoryStore({ derive: deriveFill }), limits });
  const graphql = openGraphqlService({ engine, clock: systemClock, extensions: false, limits });
  await graphql.updateSchema(0, "type Note { id: ID! text: String @search(by: [exact]) }");
  const mutate = (text: string) =>
    engine.mutate({
      namespace: 0,
      body: { kind: "rdf", text },
      startTs: 0,
      commitNow: true,
      timeoutMs: 0,
    });
  const facts = Array.from(
    { length: 300 },
    (_, i) => `_:n${i} <dgraph.type> "Note" .\n_:n${i} <Note.text> "text ${i}" .`,
  );
  await mutate(`{ set {\n${facts.join("\n")}\n} }`);
  const ask = (text: string) => engine.query({ ...queryDefaults, namespace: 0, text });
  const told = async (text: string): Promise<string> => {
    const plan = { kind: "explain", form: "text" } as const;
    return (await engine.query({ ...queryDefaults, namespace: 0, text, plan })).report ?? "";
  };
  const read = async (body: string): Promise<string> => {
    const request = { namespace: 0, kind: "graphql", body, headers: {} } as const;
    const answer = await graphql.handle({ ...request, remoteAddress: "127.0.0.1", timeoutMs: 0 });
    return new TextDecoder().decode(answer.body);
  };
  return { ask, mutate, read, told };
}

const all = "{ q(func: type(Note)) { Note.text } }";
const one = '{ q(func: eq(Note.text, "text 7")) { Note.text } }';
const refusal = /the query is expected to cost 3\d\d records, more than 100 \(--limit query-cost\)/;

test("a DQL query that costs more is refused, one that costs less is answered", async () => {
  const { ask } = await open(100);
  await expect(ask(all)).rejects.toThrow(refusal);
  await expect(ask(all)).rejects.toMatchObject({ code: "E_LIMIT" });
  expect(new TextDecoder().decode((await ask(one)).data)).toContain("text 7");
});

test("explaining tells the cost of what is refused", async () => {
  const { ask, told } = await open(100);
  await expect(ask(all)).rejects.toThrow(refusal);
  expect(await told(all)).toMatch(/cost 3\d\d\\n/);
});

test("a root field of GraphQL", async () => {
  const { read } = await open(100);
  expect(await read("{ queryNote { text } }")).toMatch(refusal);
  expect(await read('{ queryNote(filter: { text: { eq: "text 7" } }) { text } }')).toContain(
    '{"text":"text 7"}',
  );
});

test("the query of an upsert", async () => {
  const { mutate } = await open(100);
  const upsert = (func: string): string =>
    `upsert { query { v as var(func: ${func}) @filter(has(Note.text)) { t as Note.text } w(func: uid(v)) { val(t) } } mutation { set { uid(v) <seen> "1" . } } }`;
  await expect(mutate(upsert("type(Note)"))).rejects.toThrow(refusal);
  await mutate(upsert('eq(Note.text, "text 7")'));
});

test("without the setting nothing is refused", async () => {
  const { ask, read } = await open(defaultLimits.queryCostMax);
  expect(new TextDecoder().decode((await ask(all)).data)).toContain("text 299");
  expect(await read("{ queryNote { text } }")).toContain("text 299");
});
