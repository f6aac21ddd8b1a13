/**
 * Ways around a rule, each tried (reference/graphql 6): what a caller may not see stays so wherever it is asked. What may
 * not be changed: `rules-writes.test.ts`.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  admin,
  ann,
  ask,
  bob,
  boss,
  close,
  data,
  open,
  opened,
  sdl,
  titles,
} from "../../../test/support/rules-context.ts";
import { testNamespace, testSecret } from "../../../test/support/tokens.ts";

describe("reading", () => {
  beforeAll(open);
  afterAll(close);

  test("roots: lists, lookups, counts", async () => {
    const all = await data(
      ann,
      `{ queryMemo { title } getMemo(id: "0x12") { title } byCode: getMemo(code: "SECRET") { title } aggregateMemo { count pagesMax }
         byIds: queryMemo(filter: {id: ["0x12"], or: {open: true}}) { title } queryUser { handle } }`,
    );
    expect(titles(all?.["queryMemo"])).toEqual(["ann's", "open"]);
    expect(all).toMatchObject({
      getMemo: null,
      byCode: null,
      aggregateMemo: { count: 2, pagesMax: 3 },
      byIds: [],
      queryUser: [{ handle: "ann" }],
    });
  });

  test("the interface", async () => {
    const all = await data(
      ann,
      '{ queryDoc { title } getDoc(id: "0x12") { title } aggregateDoc { count titleMin } }',
    );
    expect(titles(all?.["queryDoc"])).toEqual(["ann's", "open", "plan"]);
    expect(all).toMatchObject({ getDoc: null, aggregateDoc: { count: 3, titleMin: "ann's" } });
  });

  test("edges: single, list, reverse, to interfaces, to unions", async () => {
    const all = await data(
      ann,
      `{ queryPlan { memo { title } memos { title } owner { handle } }
         queryUser { docs { title } all { ... on Memo { title } ... on Plan { title } }
                     a: docs(filter: {title: {eq: "bob's"}}) { title } b: all(filter: {memoFilter: {pages: {gt: 10}}}) { __typename } } }`,
    );
    const [plan] = (all?.["queryPlan"] ?? []) as { memos: unknown }[];
    expect(plan).toMatchObject({ memo: null, owner: null });
    expect(titles(plan?.memos)).toEqual(["ann's", "open"]);
    const [user] = (all?.["queryUser"] ?? []) as { docs: unknown; all: unknown }[];
    expect(titles(user?.docs)).toEqual(["ann's"]);
    expect(titles(user?.all)).toEqual(["ann's", "plan"]);
    expect(user).toMatchObject({ a: [], b: [{ __typename: "Plan" }] });
  });

  test("aggregates of edges", async () => {
    const query = "{ queryPlan { memosAggregate { count pagesMax pagesSum } } }";
    expect(await data(ann, query)).toEqual({
      queryPlan: [{ memosAggregate: { count: 2, pagesMax: 3, pagesSum: 4 } }],
    });
    expect(await data(boss, query)).toMatchObject({
      queryPlan: [{ memosAggregate: { count: 3 } }],
    });
  });

  test("presence of an edge tells nothing of hidden ends", async () => {
    const query =
      "{ a: queryPlan(filter: {has: memo}) { title } b: queryPlan(filter: {not: {has: [owner]}}) { title } }";
    expect(await data(ann, query)).toEqual({ a: [], b: [{ title: "plan" }] });
    expect(await data(boss, query)).toEqual({ a: [{ title: "plan" }], b: [] });
  });

  test("order and pages go over what is seen", async () => {
    const query =
      "{ queryMemo(order: {desc: pages}, first: 1) { pages } queryPlan { memos(order: {desc: pages}, first: 1) { pages } } }";
    expect(await data(ann, query)).toEqual({
      queryMemo: [{ pages: 3 }],
      queryPlan: [{ memos: [{ pages: 3 }] }],
    });
  });

  test("@cascade", async () => {
    expect(
      await data(
        ann,
        '{ a: queryPlan @cascade { title memo { title } } b: queryPlan @cascade(fields: ["owner"]) { title owner { handle } } }',
      ),
    ).toEqual({ a: [], b: [] });
  });

  test("fragments and aliases", async () => {
    expect(
      await data(
        ann,
        '{ x: getDoc(id: "0x21") { ...F } } fragment F on Doc { t: title ... on Plan { m: memo { ...G } } } fragment G on Memo { title }',
      ),
    ).toEqual({ x: { t: "plan", m: null } });
  });

  test("nobody: what rules without claims let through", async () => {
    const all = await data(
      undefined,
      "{ queryMemo { title owner { handle } } queryUser { handle } }",
    );
    expect(all).toEqual({ queryMemo: [{ title: "open", owner: null }], queryUser: [] });
  });

  test("passwords go by their own rule", async () => {
    const query =
      '{ a: checkUserPassword(handle: "ann", pin: "annpin1") { handle } b: checkUserPassword(handle: "bob", pin: "bobpin1") { handle docs { title } } }';
    expect(await data(ann, query)).toEqual({ a: { handle: "ann" }, b: null });
    expect(await data(boss, query)).toEqual({ a: null, b: null });
  });
});

describe("callers", () => {
  beforeAll(open);
  afterAll(close);

  test("one body, many callers: nothing is shared but the plan", async () => {
    const query =
      "{ queryMemo(filter: {pages: {ge: 1}}, order: {asc: pages}) { pages owner { handle } } }";
    const hers = {
      queryMemo: [
        { pages: 1, owner: { handle: "ann" } },
        { pages: 3, owner: null },
      ],
    };
    const his = {
      queryMemo: [
        { pages: 3, owner: { handle: "bob" } },
        { pages: 20, owner: { handle: "bob" } },
      ],
    };
    for (let i = 0; i < 2; i++) {
      expect(await data(ann, query)).toEqual(hers);
      expect(await data(bob, query)).toEqual(his);
      expect(await data(undefined, query)).toEqual({ queryMemo: [{ pages: 3, owner: null }] });
      expect((await data(boss, query))?.["queryMemo"]).toHaveLength(3);
      expect(await data({ ...ann, ROLE: "USER", other: 1 }, query)).toEqual(hers);
    }
  });

  test("claims are values, never text of a rule", async () => {
    const tricks = ['x") OR has(Memo.open) #', "bob\\", "$USER", '"', "0x2"];
    for (const USER of tricks) {
      expect(titles((await data({ USER }, "{ queryMemo { title } }"))?.["queryMemo"])).toEqual([
        "open",
      ]);
    }
  });

  test.each([
    ["null", null],
    ["a list where a text is asked for", ["ann", "bob"]],
    ["an object", { eq: "bob" }],
  ])("a claim that is %s opens nothing", async (_, USER) => {
    expect(await data({ USER }, "{ queryUser { handle } }")).toEqual({ queryUser: [] });
  });

  test("a token that is not believed reads and writes nothing", async () => {
    const send = (query: string, token: string): Promise<unknown> =>
      opened().send(JSON.stringify({ query }), { "x-auth": token });
    const reason =
      "unable to parse jwt token:token is malformed: token contains an invalid number of segments";
    expect(
      await send("{ queryPlan { title } p: getPlan(id: 1) { title } __typename }", "x"),
    ).toEqual({
      errors: [
        { message: `couldn't rewrite query queryPlan because ${reason}`, path: ["queryPlan"] },
        { message: `couldn't rewrite query p because ${reason}`, path: ["p"] },
      ],
      data: { queryPlan: [], p: null, __typename: "Query" },
    });
    expect(await send('mutation { addPlan(input: [{title: "x"}]) { numUids } }', "x")).toEqual({
      errors: [
        {
          message: `mutation failed because authorization failed because ${reason}`,
          locations: [{ line: 1, column: 12 }],
          path: ["addPlan"],
        },
      ],
      data: { addPlan: null },
    });
    expect(await send("{ queryPlan { title } }", "Bearer a b")).toEqual({
      errors: [{ message: "invalid Bearer-formatted header value for JWT (Bearer a b)" }],
    });
  });
});

describe("closed by default", () => {
  beforeEach(open);
  afterEach(close);

  test("nothing is done without a token, rules or not", async () => {
    await opened().service.updateSchema(0, sdl.replace('"Algo"', '"ClosedByDefault":true,"Algo"'));
    const reason = "a valid JWT is required but was not provided";
    const answer = await ask(
      undefined,
      '{ queryPlan { title } getUser(handle: "ann") { handle } aggregatePlan { count } }',
    );
    expect(answer.data).toEqual({ queryPlan: [], getUser: null, aggregatePlan: null });
    expect(answer.errors?.map((error) => error.message)).toEqual(
      ["queryPlan", "getUser", "aggregatePlan"].map(
        (name) => `couldn't rewrite query ${name} because ${reason}`,
      ),
    );
    const writes = await ask(
      undefined,
      'mutation { deletePlan(filter: {}) { numUids } addPlan(input: [{title: "x"}]) { numUids } }',
    );
    expect(writes.errors?.[0]?.message).toBe(
      `couldn't rewrite mutation deletePlan because ${reason}`,
    );
    expect(await data(ann, "{ queryPlan { title } }")).toEqual({ queryPlan: [{ title: "plan" }] });
  });
});

describe("denied outright", () => {
  beforeEach(open);
  afterEach(close);

  test("a role that is not had: empty, null, and no number", async () => {
    await opened().service.updateSchema(
      0,
      `type Memo @auth(query: ${admin}) { id: ID!  pages: Int }
       type Plan { id: ID!  size: Int  memo: Memo  memos: [Memo] }
       # Dgraph.Authorization {"VerificationKey":"${testSecret}","Header":"X-Auth","Namespace":"${testNamespace}","Algo":"HS256"}`,
    );
    const query =
      '{ queryMemo { pages } getMemo(id: "0x11") { pages } aggregateMemo { count } queryPlan { memo { pages } memos { pages } memosAggregate { count pagesMax __typename } } }';
    const nothing = { count: null, pagesMax: null, __typename: "MemoAggregateResult" };
    expect(await data(ann, query)).toEqual({
      queryMemo: [],
      getMemo: null,
      aggregateMemo: null,
      queryPlan: [{ memo: null, memos: [], memosAggregate: nothing }],
    });
    expect(await data(boss, query)).toMatchObject({
      queryPlan: [{ memosAggregate: { count: 3, pagesMax: 20 } }],
    });
  });
});
