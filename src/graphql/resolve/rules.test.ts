/**
 * Ways around a rule, each tried (reference/graphql 6): what a caller may not see or do stays so wherever it is asked.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openGraphqlContext } from "../../../test/support/graphql-context.ts";
import type { GraphqlContext } from "../../../test/support/graphql-context.ts";
import { testNamespace, testSecret, tokenOf } from "../../../test/support/tokens.ts";

const mine = (type: string, path: string): string =>
  `{ rule: "query($USER: String!) { query${type} ${path} }" }`;
const ownedBy = (type: string): string =>
  mine(type, "{ owner(filter: {handle: {eq: $USER}}) { handle } }");
const admin = '{ rule: "{$ROLE: {eq: \\"ADMIN\\"}}" }';

const sdl = `
  type User @secret(field: "pin") @auth(
    query: { or: [${mine("User", "(filter: {handle: {eq: $USER}}) { handle }")}, ${admin}] }
    update: { or: [${mine("User", "(filter: {handle: {eq: $USER}}) { handle }")}, ${admin}] }
    password: ${mine("User", "(filter: {handle: {eq: $USER}}) { handle }")}
  ) { handle: String! @id  city: String @search(by: [exact])  docs: [Doc] @hasInverse(field: owner)  all: [Any]  twin: User @hasInverse(field: twin) }
  interface Doc { id: ID!  title: String! @search(by: [exact])  owner: User }
  type Memo implements Doc @auth(
    query: { or: [{ rule: "query { queryMemo(filter: {open: true}) { id } }" }, ${ownedBy("Memo")}, ${admin}] }
    add: ${ownedBy("Memo")}
    update: ${ownedBy("Memo")}
    delete: ${admin}
  ) { open: Boolean @search  pages: Int @search  code: String @id  plans: [Plan] }
  type Plan implements Doc { size: Int @search  memo: Memo  memos: [Memo] }
  union Any = Memo | Plan
  # Dgraph.Authorization {"VerificationKey":"${testSecret}","Header":"X-Auth","Namespace":"${testNamespace}","Algo":"HS256"}
`;

let context: GraphqlContext;

/** Without rules, for what the tests prepare and look at. */
async function prepare(): Promise<void> {
  const engine = context.engine;
  await engine.mutate({
    namespace: 0,
    body: {
      kind: "rdf",
      text: `{ set {
        <0x1> <dgraph.type> "User" . <0x1> <User.handle> "ann" . <0x1> <User.city> "Rome" . <0x1> <User.pin> "annpin1" .
        <0x2> <dgraph.type> "User" . <0x2> <User.handle> "bob" . <0x2> <User.city> "Oslo" . <0x2> <User.pin> "bobpin1" .
        ${memo("0x11", "ann's", "0x1", "false", 1)} ${memo("0x12", "bob's", "0x2", "false", 20)} ${memo("0x13", "open", "0x2", "true", 3)}
        <0x12> <Memo.code> "SECRET" .
        <0x21> <dgraph.type> "Plan" . <0x21> <dgraph.type> "Doc" . <0x21> <Doc.title> "plan" . <0x21> <Doc.owner> <0x2> . <0x2> <User.docs> <0x21> .
        <0x21> <Plan.memo> <0x12> . <0x21> <Plan.memos> <0x11> . <0x21> <Plan.memos> <0x12> . <0x21> <Plan.memos> <0x13> . <0x21> <Plan.size> "7" .
        <0x1> <User.all> <0x11> . <0x1> <User.all> <0x12> . <0x1> <User.all> <0x21> . <0x1> <User.docs> <0x12> .
      } }`.replaceAll(" . ", " .\n"),
    },
    startTs: 0,
    commitNow: true,
    timeoutMs: 0,
  });
}

function memo(id: string, title: string, owner: string, open: string, pages: number): string {
  return `<${id}> <dgraph.type> "Memo" . <${id}> <dgraph.type> "Doc" . <${id}> <Doc.title> "${title}" . <${id}> <Memo.open> "${open}" .
    <${id}> <Memo.pages> "${pages}" . <${id}> <Doc.owner> <${owner}> . <${owner}> <User.docs> <${id}> .`;
}

async function open(): Promise<void> {
  context = await openGraphqlContext(sdl);
  await prepare();
}

const close = (): Promise<void> => context.close();

type Claims = Readonly<Record<string, unknown>>;

const ann: Claims = { USER: "ann" };
const bob: Claims = { USER: "bob" };
const boss: Claims = { ROLE: "ADMIN" };

interface Answer {
  readonly data?: Readonly<Record<string, unknown>>;
  readonly errors?: readonly { readonly message: string }[];
}

async function ask(
  claims: Claims | undefined,
  query: string,
  variables?: unknown,
): Promise<Answer> {
  const headers = claims === undefined ? {} : { "x-auth": tokenOf(claims) };
  return (await context.send(JSON.stringify({ query, variables }), headers)) as Answer;
}

async function data(claims: Claims | undefined, query: string): Promise<Answer["data"]> {
  const answer = await ask(claims, query);
  expect(answer.errors).toBe(undefined);
  return answer.data;
}

async function expectRefused(claims: Claims | undefined, mutation: string): Promise<void> {
  const answer = await ask(claims, mutation);
  expect(answer.errors?.map((error) => error.message)).toEqual([
    "mutation failed because authorization failed",
  ]);
  expect(Object.values(answer.data ?? {})).toEqual([null]);
}

const titles = (value: unknown): unknown =>
  (value as { title: string }[]).map(({ title }) => title).sort();

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
      context.send(JSON.stringify({ query }), { "x-auth": token });
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

describe("adding", () => {
  beforeEach(open);
  afterEach(close);

  test("is judged by what was written", async () => {
    await expectRefused(ann, 'mutation { addMemo(input: [{title: "x"}]) { numUids } }');
    await expectRefused(
      ann,
      'mutation { addMemo(input: [{title: "x", owner: {handle: "bob"}}]) { numUids } }',
    );
    expect(
      await data(
        ann,
        'mutation { addMemo(input: [{title: "x", owner: {handle: "ann"}}]) { memo { title } } }',
      ),
    ).toEqual({ addMemo: { memo: [{ title: "x" }] } });
    expect(await context.dql('{ q(func: eq(Doc.title, "x")) { count(uid) } }')).toEqual({
      q: [{ count: 1 }],
    });
  });

  test("one node that may not be added keeps all out", async () => {
    await expectRefused(
      ann,
      'mutation { addMemo(input: [{title: "x", owner: {handle: "ann"}}, {title: "x", owner: {handle: "bob"}}]) { numUids } }',
    );
    await expectRefused(
      boss,
      'mutation { addMemo(input: [{title: "x", owner: {handle: "ann"}}]) { numUids } }',
    );
    expect(await context.dql('{ q(func: eq(Doc.title, "x")) { count(uid) } }')).toEqual({
      q: [{ count: 0 }],
    });
  });

  test("below another type, in an add and in an update", async () => {
    await expectRefused(
      ann,
      'mutation { addPlan(input: [{title: "y", memo: {title: "x"}}]) { numUids } }',
    );
    await expectRefused(
      ann,
      'mutation { updatePlan(input: {filter: {}, set: {memo: {title: "x"}}}) { numUids } }',
    );
    await expectRefused(
      ann,
      'mutation { updateUser(input: {filter: {}, set: {all: [{memoRef: {title: "x"}}]}}) { numUids } }',
    );
    expect(await context.dql('{ q(func: eq(Doc.title, ["x", "y"])) { count(uid) } }')).toEqual({
      q: [{ count: 0 }],
    });
  });

  test("the answer shows what may be seen, and no more", async () => {
    const add = (owner: string): string =>
      `mutation { addPlan(input: [{title: "y", memo: {code: "SECRET"}, owner: {handle: "${owner}"}}]) { plan { memo { title } owner { city } } } }`;
    expect(await data(ann, add("ann"))).toEqual({
      addPlan: { plan: [{ memo: null, owner: { city: "Rome" } }] },
    });
    // The way back from an owner would be changed, and he is hidden.
    await expectRefused(ann, add("bob"));
  });

  test("an upsert leaves alone what may not be updated", async () => {
    const upsert = (owner: string): string =>
      `mutation { addMemo(upsert: true, input: [{title: "changed", code: "SECRET", plans: [{title: "new"}], owner: {handle: "${owner}"}}]) { numUids memo { title } } }`;
    expect(await data(ann, upsert("ann"))).toEqual({ addMemo: { numUids: 0, memo: [] } });
    expect(
      await context.dql(
        '{ q(func: uid(0x12)) { Doc.title } p(func: eq(Doc.title, "new")) { uid } }',
      ),
    ).toEqual({
      q: [{ "Doc.title": "bob's" }],
      p: [],
    });
    expect(await data(bob, upsert("bob"))).toMatchObject({
      addMemo: { memo: [{ title: "changed" }] },
    });
  });

  test("a hidden node cannot be linked by its ID, as one that does not exist", async () => {
    const add = (id: string): Promise<Answer> =>
      ask(ann, `mutation { addPlan(input: [{title: "y", memo: {id: "${id}"}}]) { numUids } }`);
    const update = (word: string, id: string): Promise<Answer> =>
      ask(
        ann,
        `mutation { updatePlan(input: {filter: {id: ["0x21"]}, ${word}: {memo: {id: "${id}"}}}) { numUids } }`,
      );
    const hidden = [await add("0x12"), await update("set", "0x12"), await update("remove", "0x12")];
    const unknown = [
      await add("0x99"),
      await update("set", "0x99"),
      await update("remove", "0x99"),
    ];
    const wrong = [await add("0x21"), await update("set", "0x21"), await update("remove", "0x21")];
    const told = (answers: readonly Answer[]): string =>
      JSON.stringify(answers.map(({ data: shown, errors }) => ({ shown, errors })));
    expect(told(hidden)).toContain("authorization failed");
    expect(told(hidden)).toBe(told(unknown));
    expect(told(hidden)).toBe(told(wrong));
    expect((await add("0x13")).errors).toBe(undefined);
    expect((await add("0x11")).errors).toBe(undefined);
  });

  test("whoever sees the node is told that its id is taken", async () => {
    const add =
      'mutation { addMemo(input: [{title: "x", code: "SECRET", owner: {handle: "bob"}}]) { numUids } }';
    const [error] = (await ask(bob, add)).errors ?? [];
    expect(error?.message).toContain("id SECRET already exists for field code inside type Memo");
    await expectRefused(ann, add);
  });

  test("ids that are taken by hidden nodes tell no tale", async () => {
    await expectRefused(
      ann,
      'mutation { addMemo(input: [{title: "x", code: "SECRET", owner: {handle: "ann"}}]) { numUids } }',
    );
    await expectRefused(
      ann,
      'mutation { addUser(input: [{handle: "bob", pin: "bobpin1"}]) { numUids } }',
    );
    await expectRefused(
      ann,
      'mutation { updatePlan(input: {filter: {}, set: {memo: {id: "0x2"}}}) { numUids } }',
    );
  });
});

describe("edges from the other side", () => {
  const sdlOfNotes = `
  type Note @auth(
    query: ${mine("Note", "{ owner(filter: {handle: {eq: $USER}}) { handle } }")}
    update: ${mine("Note", "{ owner(filter: {handle: {eq: $USER}}) { handle } }")}
  ) { id: ID! text: String! @search(by: [exact]) owner: Person @hasInverse(field: notes) pin: Board @hasInverse(field: note) tags: [Tag] @hasInverse(field: notes) }
  type Person { handle: String! @id notes: [Note] }
  type Board { name: String! @id note: Note }
  type Tag { name: String! @id notes: [Note] }
  # Dgraph.Authorization {"VerificationKey":"${testSecret}","Header":"X-Auth","Namespace":"${testNamespace}","Algo":"HS256"}`;
  let theirs: string;
  let own: string;

  beforeEach(async () => {
    context = await openGraphqlContext(sdlOfNotes);
    const add = async (who: string): Promise<string> => {
      const query = `mutation { addNote(input: [{ text: "${who}'s", owner: { handle: "${who}" } }]) { note { id } } }`;
      const answer = await data({ USER: who }, query);
      const added = answer!["addNote"] as { note: { id: string }[] };
      return added.note[0]!.id;
    };
    theirs = await add("bob");
    own = await add("ann");
    await data(ann, 'mutation { addBoard(input: [{ name: "wall" }]) { numUids } }');
    await data(ann, 'mutation { addTag(input: [{ name: "red" }]) { numUids } }');
  });
  afterEach(close);

  const owners = (): Promise<unknown> =>
    context.dql(
      "{ q(func: type(Note), orderasc: Note.text) { Note.text Note.owner { Person.handle } Note.pin { Board.name } } }",
    );
  const asTheyWere = {
    q: [
      { "Note.text": "ann's", "Note.owner": { "Person.handle": "ann" } },
      { "Note.text": "bob's", "Note.owner": { "Person.handle": "bob" } },
    ],
  };

  test("a single edge is given, taken or cleared by nobody who may not update its node", async () => {
    const attempts = [
      `updatePerson(input: { filter: { handle: { eq: "ann" } }, set: { notes: [{ id: "${theirs}" }] } }) { numUids }`,
      `updatePerson(input: { filter: { handle: { eq: "bob" } }, remove: { notes: [{ id: "${theirs}" }] } }) { numUids }`,
      'updatePerson(input: { filter: { handle: { eq: "bob" } }, remove: { notes: null } }) { numUids }',
      `addPerson(input: [{ handle: "eve", notes: [{ id: "${theirs}" }] }]) { numUids }`,
      `addPerson(upsert: true, input: [{ handle: "ann", notes: [{ id: "${theirs}" }] }]) { numUids }`,
      `addBoard(input: [{ name: "new", note: { id: "${theirs}" } }]) { numUids }`,
      `updateBoard(input: { filter: { name: { eq: "wall" } }, set: { note: { id: "${theirs}" } } }) { numUids }`,
      `addTag(input: [{ name: "deep", notes: [{ text: "new", owner: { handle: "zoe", notes: [{ id: "${theirs}" }] } }] }]) { numUids }`,
    ];
    for (const attempt of attempts) {
      const answer = await ask(ann, `mutation { ${attempt} }`);
      expect(answer.errors?.[0]?.message, attempt).toContain("authorization failed");
      expect(await owners()).toEqual(asTheyWere);
    }
  });

  test("and is by those who may", async () => {
    const give = `mutation { updatePerson(input: { filter: { handle: { eq: "bob" } }, set: { notes: [{ id: "${own}" }] } }) { numUids } }`;
    expect((await ask(ann, give)).errors).toBe(undefined);
    const pin = `mutation { addBoard(input: [{ name: "new", note: { id: "${theirs}" } }]) { numUids } }`;
    expect((await ask(bob, pin)).errors).toBe(undefined);
    expect(await owners()).toEqual({
      q: [
        { "Note.text": "ann's", "Note.owner": { "Person.handle": "bob" } },
        {
          "Note.text": "bob's",
          "Note.owner": { "Person.handle": "bob" },
          "Note.pin": { "Board.name": "new" },
        },
      ],
    });
  });

  test("what changes nothing needs no right: the edge is there already", async () => {
    const again =
      'mutation { updatePerson(input: { filter: { handle: { eq: "bob" } }, set: { handle: "bob" } }) { numUids } }';
    expect((await ask(ann, again)).errors).toBe(undefined);
    expect(await owners()).toEqual(asTheyWere);
  });
});

describe("updating and deleting", () => {
  beforeEach(open);
  afterEach(close);

  test("skips what may not be changed, and goes by the state before", async () => {
    expect(
      await data(
        ann,
        'mutation { updateMemo(input: {filter: {}, set: {pages: 99, owner: {handle: "ann"}}}) { numUids memo { title } } }',
      ),
    ).toEqual({ updateMemo: { numUids: 1, memo: [{ title: "ann's" }] } });
    expect(
      await data(
        undefined,
        "mutation { updateMemo(input: {filter: {}, remove: {pages: null}}) { numUids } }",
      ),
    ).toEqual({
      updateMemo: { numUids: 0 },
    });
    expect(
      await data(
        ann,
        'mutation { updateDoc(input: {filter: {title: {eq: "bob\'s"}}, set: {title: "x"}}) { numUids } }',
      ),
    ).toEqual({
      updateDoc: { numUids: 0 },
    });
  });

  test("deletes go by their own rule, through the interface too", async () => {
    const removal =
      'mutation { deleteMemo(filter: {title: {eq: "bob\'s"}}) { numUids msg memo { title owner { handle } } } }';
    expect(await data(bob, removal)).toEqual({
      deleteMemo: { numUids: 0, msg: "No nodes were deleted", memo: [] },
    });
    expect(await data(bob, "mutation { deleteDoc(filter: {}) { numUids doc { title } } }")).toEqual(
      {
        deleteDoc: { numUids: 1, doc: [{ title: "plan" }] },
      },
    );
    expect(await data(boss, removal)).toMatchObject({ deleteMemo: { numUids: 1, msg: "Deleted" } });
  });

  test("taking over a single edge asks the rule of who holds it", async () => {
    const take =
      'mutation { updateUser(input: {filter: {handle: {eq: "ann"}}, set: {docs: [{id: "0x21"}]}}) { numUids } }';
    await expectRefused(ann, take);
    await expectRefused({ USER: "ann", ROLE: "USER" }, take);
    expect(await data({ USER: "ann", ROLE: "ADMIN" }, take)).toEqual({
      updateUser: { numUids: 1 },
    });
    expect(await context.dql("{ q(func: uid(0x21)) { Doc.owner { User.handle } } }")).toEqual({
      q: [{ "Doc.owner": { "User.handle": "ann" } }],
    });
  });

  test("from a new node, from the other side, and between single edges", async () => {
    await expectRefused(
      ann,
      'mutation { addUser(input: [{handle: "cy", pin: "cypin12", docs: [{id: "0x21"}]}]) { numUids } }',
    );
    await expectRefused(
      ann,
      'mutation { updatePlan(input: {filter: {}, set: {owner: {handle: "ann"}}}) { numUids } }',
    );
    await expectRefused(
      undefined,
      'mutation { updatePlan(input: {filter: {}, set: {owner: {handle: "ann"}}}) { numUids } }',
    );
    expect(
      await data(
        boss,
        'mutation { updateUser(input: {filter: {handle: {eq: "bob"}}, set: {twin: {handle: "cy", pin: "cypin12"}}}) { numUids } }',
      ),
    ).toEqual({
      updateUser: { numUids: 1 },
    });
    await expectRefused(
      ann,
      'mutation { updateUser(input: {filter: {handle: {eq: "ann"}}, set: {twin: {handle: "cy"}}}) { numUids } }',
    );
  });
});

describe("closed by default", () => {
  beforeEach(open);
  afterEach(close);

  test("nothing is done without a token, rules or not", async () => {
    await context.service.updateSchema(0, sdl.replace('"Algo"', '"ClosedByDefault":true,"Algo"'));
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
    await context.service.updateSchema(
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
