// Goal: a walk through reference/graphql 3 and reference/dql 4.5: what the schema generates, and the paging of the
// native endpoint.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp } from "../e2e/server.ts";
import { fillShelf, openSeedContext, type SeedContext } from "./seed-context.ts";

let context: SeedContext;
beforeAll(async () => {
  context = await openSeedContext();
  await fillShelf(context);
  const people = Array.from({ length: 20 }, (_, i) => `<${0x100 + i}> <rank> "${(i * 7) % 20}" .`);
  const edges = Array.from({ length: 6 }, (_, i) => `<0x100> <knows> <${0x101 + i}> .`);
  await context.send("/alter", "rank: int @index(int) .\nknows: [uid] .", {
    "content-type": "text/plain",
  });
  const rdf = `{ set {\n${[...people, ...edges].join("\n")}\n} }`;
  const stored = await context.send("/mutate?commitNow=true", rdf, {
    "content-type": "application/rdf",
  });
  expect(stored.json).toMatchObject({ data: { code: "Success" } });
});
afterAll(cleanUp);

const dql = async (text: string): Promise<unknown> => {
  const { json } = await context.send("/query", text, { "content-type": "application/dql" });
  expect(json["errors"]).toBeUndefined();
  return json["data"];
};
const uid = (i: number): object => ({ uid: `0x${(0x100 + i).toString(16)}` });
const ranks = (...list: number[]): object[] => list.map((rank) => ({ rank }));

describe("reference/graphql 3 conventions", () => {
  test("reference/graphql 3 single-object query: by ID, or by another unique field", async () => {
    const byLogin = await context.ask('{ getWriter(login: "ann") { id name } }');
    const { id } = (byLogin.data as { getWriter: { id: string } }).getWriter;
    expect((await context.ask(`{ getWriter(id: "${id}") { name } }`)).data).toEqual({
      getWriter: { name: "Ann Lee" },
    });
    expect((await context.ask('{ getWriter(email: "ann@shelf") { login } }')).data).toEqual({
      getWriter: { login: "ann" },
    });
  });

  test("reference/graphql 3 list query: filter, and order asc or desc; a list", async () => {
    const { data } = await context.ask(`{ up: queryNovel(order: {asc: pages}) { pages }
      down: queryNovel(filter: {pages: {ge: 100}}, order: {desc: pages}) { pages } }`);
    expect(data).toEqual({
      up: [{ pages: 90 }, { pages: 150 }, { pages: 210 }],
      down: [{ pages: 210 }, { pages: 150 }],
    });
  });

  test("reference/graphql 3 filter: by field, then operator; a boolean by its value", async () => {
    const { data } =
      await context.ask(`{ queryNovel(filter: {inPrint: true, title: {eq: "Tides"}}) { title }
      out: queryNovel(filter: {inPrint: false}) { title } }`);
    expect(data).toEqual({ queryNovel: [{ title: "Tides" }], out: [{ title: "Tidal" }] });
  });

  test("reference/graphql 3 add mutation: the payload lists what was created, under the lower-cased type", async () => {
    const { data } = await context.ask(
      'mutation { addManual(input: [{title: "One"}, {title: "Two"}]) { manual { title } } }',
    );
    const { manual } = (data as { addManual: { manual: unknown[] } }).addManual;
    expect(manual).toHaveLength(2);
    expect(manual).toEqual(expect.arrayContaining([{ title: "One" }, { title: "Two" }]));
    await context.ask(
      'mutation { deleteManual(filter: {title: {in: ["One", "Two"]}}) { numUids } }',
    );
  });

  test("reference/graphql 3 directives: @search(by: [hash, trigram, exact]) gives all their operators", async () => {
    const { data } = await context.ask(`{ hash: queryNovel(filter: {title: {eq: "Tides"}}) { title }
      trigram: queryNovel(filter: {title: {regexp: "/Tid.l/"}}) { title }
      exact: queryNovel(filter: {title: {between: {min: "A", max: "E"}}}) { title } }`);
    expect(data).toEqual({
      hash: [{ title: "Tides" }],
      trigram: [{ title: "Tidal" }],
      exact: [{ title: "Dunes" }],
    });
  });

  test("reference/graphql 3 interfaces: a type may implement several", async () => {
    const { data } =
      await context.ask(`{ queryRated(filter: {stars: {ge: 5}}) { stars ... on Novel { title } }
      queryWork(filter: {title: {eq: "Dunes"}}) { title pages } }`);
    expect(data).toEqual({
      queryRated: [{ stars: 5, title: "Dunes" }],
      queryWork: [{ title: "Dunes", pages: 150 }],
    });
  });

  test("reference/graphql 3 meta field: __typename on any object", async () => {
    const { data } = await context.ask(
      '{ getWriter(login: "bo") { __typename works { __typename writer { __typename } } } }',
    );
    expect(data).toEqual({
      getWriter: {
        __typename: "Writer",
        works: [{ __typename: "Novel", writer: { __typename: "Writer" } }],
      },
    });
  });
});

describe("reference/dql 4.5 the native endpoint", () => {
  test("reference/dql 1.3 Content-Type, Body and Response: DQL text with named blocks, JSON", async () => {
    const told = await context.send(
      "/query",
      "{ first(func: eq(rank, 3)) { rank } second(func: uid(0x1ff)) { rank } }",
      {
        "content-type": "application/dql",
      },
    );
    expect(told.headers.get("content-type")).toContain("application/json");
    expect(told.json["data"]).toEqual({ first: ranks(3), second: [] });
  });

  test("reference/dql 4.5 orderasc, orderdesc: by predicate, by value variable, at the top and on predicates", async () => {
    expect(
      await dql(`{ v as var(func: has(rank)) { r as rank }
        up(func: uid(v), orderasc: rank, first: 2) { rank }
        down(func: uid(v), orderdesc: val(r), first: 2) { rank }
        at(func: uid(0x100)) { knows @filter(gt(rank, 2)) (orderdesc: rank, first: 2) { rank } } }`),
    ).toEqual({ up: ranks(0, 1), down: ranks(19, 18), at: [{ knows: ranks(15, 14) }] });
  });

  test("reference/dql 4.5 first: positive the first, negative the last, in uid order", async () => {
    expect(
      await dql(`{ f(func: has(rank), first: 2) { uid } l(func: has(rank), first: -2) { uid }
        e(func: uid(0x100)) { knows (first: -2) { uid } } }`),
    ).toEqual({ f: [uid(0), uid(1)], l: [uid(18), uid(19)], e: [{ knows: [uid(5), uid(6)] }] });
    const refused = await context.send(
      "/query",
      "{ q(func: has(rank), orderasc: rank, first: -2) { uid } }",
      {
        "content-type": "application/dql",
      },
    );
    expect(refused.json["errors"]).toHaveLength(1);
  });

  test("reference/dql 4.5 offset: skips, with first takes the next", async () => {
    expect(
      await dql(`{ a(func: has(rank), offset: 18) { uid } b(func: has(rank), first: 2, offset: 3) { uid }
        c(func: has(rank), orderasc: rank, first: 2, offset: 3) { rank } d(func: uid(0x100)) { knows (offset: 4) { uid } } }`),
    ).toEqual({
      a: [uid(18), uid(19)],
      b: [uid(3), uid(4)],
      c: ranks(3, 4),
      d: [{ knows: [uid(5), uid(6)] }],
    });
  });

  test("reference/dql 4.5 after: goes on behind a uid", async () => {
    expect(
      await dql(`{ a(func: has(rank), first: 2, after: 0x103) { uid } b(func: has(rank), after: 0x112) { uid }
        c(func: uid(0x100)) { knows (first: 1, after: 0x104) { uid } } }`),
    ).toEqual({ a: [uid(4), uid(5)], b: [uid(19)], c: [{ knows: [uid(5)] }] });
  });

  test("reference/dql 4.5 rule 1: without a sort the order is by uid", async () => {
    const { q } = (await dql("{ q(func: has(rank)) { uid } }")) as { q: object[] };
    expect(q).toEqual(Array.from({ length: 20 }, (_, i) => uid(i)));
  });

  test("reference/dql 4.5 rule 2: paging with after meets every node once", async () => {
    const seen: object[] = [];
    for (let after = "0x0"; ;) {
      const { q } = (await dql(`{ q(func: has(rank), first: 7, after: ${after}) { uid } }`)) as {
        q: { uid: string }[];
      };
      if (q.length === 0) break;
      seen.push(...q);
      after = q.at(-1)?.uid ?? "";
    }
    expect(seen).toEqual(Array.from({ length: 20 }, (_, i) => uid(i)));
    expect(await dql("{ q(func: has(rank), first: 1) { uid } }")).toEqual({ q: [uid(0)] });
  });

  test("reference/dql 4.5 rule 3: uids are hexadecimal with 0x in front", async () => {
    expect(await dql("{ q(func: uid(0x10a)) { uid rank } }")).toEqual({
      q: [{ uid: "0x10a", rank: 10 }],
    });
  });

  test("reference/dql 4.5 rule 4: top-k by orderdesc with first", async () => {
    expect(await dql("{ q(func: has(rank), orderdesc: rank, first: 3) { rank } }")).toEqual({
      q: ranks(19, 18, 17),
    });
  });

  test("reference/dql 4.5 rule 5: as binds a block or an expression, val reads it", async () => {
    expect(
      await dql(`{ var(func: uid(0x101, 0x102)) { r as rank d as math(r * 2) }
        q(func: uid(r), orderasc: val(d)) { val(d) } }`),
    ).toEqual({ q: [{ "val(d)": 14 }, { "val(d)": 28 }] });
  });
});

describe("limits", () => {
  test("reference/graphql 4.1.3 rule 6: operations executed per GraphQL request: 1", async () => {
    const query = `mutation A { addManual(input: [{title: "limit A"}]) { numUids } }
      mutation B { addManual(input: [{title: "limit B"}]) { numUids } }`;
    await context.ask(query, { operationName: "A" });
    const { data } = await context.ask(
      '{ queryManual(filter: {title: {regexp: "/limit/"}}) { title } }',
    );
    expect(data).toEqual({ queryManual: [{ title: "limit A" }] });
    await context.ask('mutation { deleteManual(filter: {title: {eq: "limit A"}}) { numUids } }');
  });

  test("reference/dql 4.5 cost of offset and after: a page behind a uid visits its own nodes, one by offset is exact", async () => {
    const page = async (text: string): Promise<unknown> =>
      (await context.send("/query", text, { "content-type": "application/dql" })).json["data"];
    expect(await page("{ q(func: has(rank), first: 2, after: 0x10f) { uid } }")).toEqual({
      q: [uid(16), uid(17)],
    });
    expect(await page("{ q(func: has(rank), first: 2, offset: 16) { uid } }")).toEqual({
      q: [uid(16), uid(17)],
    });
  });
});
