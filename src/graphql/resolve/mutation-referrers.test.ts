// Goal: what a field says by @onDelete holds of the nodes that refer to deleted ones, for every caller and beside other
// transactions; without it a deletion is as in the reference.
import { afterEach, describe, expect, test } from "vitest";
import { openGraphqlContext, type GraphqlContext } from "../../../test/support/graphql-context.ts";
import { testNamespace, testSecret, tokenOf } from "../../../test/support/tokens.ts";
import { systemClock } from "../../base/clock.ts";
import { mergeRules } from "../../auth/predicate-rights.ts";
import { defaultLimits } from "../../model/limits.ts";
import { anyPrincipal } from "../../model/principal.ts";
import { RequestBudget } from "../../model/request-budget.ts";

let context: GraphqlContext;
afterEach(() => context.close());

interface Told {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly { readonly message: string }[];
}

async function ask(query: string, headers: Record<string, string> = {}): Promise<Told> {
  return (await context.send(JSON.stringify({ query }), headers)) as Told;
}

const blog = (action: string): string => `
  type Writer { name: String! @id posts: [Post] @hasInverse(field: writer) }
  type Post { title: String! @id writer: Writer @onDelete(action: ${action}) tags: [Tag!] }
  type Comment { text: String! @id post: Post! @onDelete(action: CASCADE) answers: Comment @onDelete(action: CASCADE) }
  type Tag { word: String! @id }
`;

async function fill(): Promise<void> {
  const done = await ask(`mutation {
    addComment(input: [
      { text: "c1", post: { title: "p1", writer: { name: "ann" }, tags: [{ word: "t" }] } },
      { text: "c2", post: { title: "p2", writer: { name: "ann" } }, answers: { text: "c1" } },
      { text: "c3", post: { title: "p3", writer: { name: "bob" } }, answers: { text: "c2" } }
    ]) { numUids } }`);
  expect(done.errors).toBeUndefined();
}

const all = `{
  queryWriter(order: { asc: name }) { name posts(order: { asc: title }) { title } }
  queryPost(order: { asc: title }) { title writer { name } }
  queryComment(order: { asc: text }) { text post { title } answers { text } }
}`;

const remove = (name: string): Promise<Told> =>
  ask(
    `mutation { deleteWriter(filter: { name: { eq: "${name}" } }) { numUids msg writer { name } } }`,
  );

test("RESTRICT: a node that others refer to stays, and so does everything else", async () => {
  context = await openGraphqlContext(blog("RESTRICT"));
  await fill();
  const before = await ask(all);
  const { data, errors } = await remove("ann");
  expect(data).toEqual({ deleteWriter: null });
  expect(errors?.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /^mutation deleteWriter failed because node 0x[\da-f]+ is referred to by Post\.writer, which says @onDelete\(action: RESTRICT\)$/,
    ),
  ]);
  expect(await ask(all)).toEqual(before);
  await ask(
    'mutation { updatePost(input: { filter: { title: { eq: "p3" } }, remove: { writer: { name: "bob" } } }) { numUids } }',
  );
  expect((await remove("bob")).data).toEqual({
    deleteWriter: { numUids: 1, msg: "Deleted", writer: [{ name: "bob" }] },
  });
});

test("CASCADE: those that refer go along, whatever they are referred to by, and nothing else", async () => {
  context = await openGraphqlContext(blog("CASCADE"));
  await fill();
  expect((await remove("ann")).data).toEqual({
    // ann, p1, p2, c1, c2, and c3, which answers c2.
    deleteWriter: { numUids: 6, msg: "Deleted", writer: [{ name: "ann" }] },
  });
  expect((await ask(all)).data).toEqual({
    queryWriter: [{ name: "bob", posts: [{ title: "p3" }] }],
    queryPost: [{ title: "p3", writer: { name: "bob" } }],
    queryComment: [],
  });
  expect((await ask("{ queryTag { word } }")).data).toEqual({ queryTag: [{ word: "t" }] });
});

test("NULLIFY: the edges go, the nodes stay", async () => {
  context = await openGraphqlContext(blog("NULLIFY"));
  await fill();
  expect((await remove("ann")).data).toMatchObject({ deleteWriter: { numUids: 1 } });
  expect(
    (await ask("{ queryPost(order: { asc: title }) { title writer { name } } }")).data,
  ).toEqual({
    queryPost: [
      { title: "p1", writer: null },
      { title: "p2", writer: null },
      { title: "p3", writer: { name: "bob" } },
    ],
  });
  // No edge is left behind that a node of the same uid would inherit.
  expect(await context.dql("{ q(func: has(Post.writer)) { Post.title } }")).toEqual({
    q: [{ "Post.title": "p3" }],
  });
});

test("what is deleted along restricts nothing; what it leads to does", async () => {
  context = await openGraphqlContext(`
    type A { id: String! @id }
    type B { id: String! @id a: A! @onDelete(action: CASCADE) twin: B @onDelete(action: RESTRICT) }
    type C { id: String! @id b: B! @onDelete(action: RESTRICT) }
  `);
  await ask(
    'mutation { addB(input: [{ id: "b1", a: { id: "a" } }, { id: "b2", a: { id: "a" }, twin: { id: "b1" } }]) { numUids } }',
  );
  await ask('mutation { addC(input: [{ id: "c", b: { id: "b1" } }]) { numUids } }');
  const drop = (type: string): Promise<Told> =>
    ask(`mutation { delete${type}(filter: {}) { numUids } }`);
  expect((await drop("A")).errors?.[0]?.message).toContain("is referred to by C.b");
  expect((await drop("C")).data).toEqual({ deleteC: { numUids: 1 } });
  expect((await drop("A")).data).toEqual({ deleteA: { numUids: 3 } });
});

test("circles end", async () => {
  context = await openGraphqlContext(
    "type N { id: String! @id next: N @onDelete(action: CASCADE) }",
  );
  await ask(
    'mutation { addN(input: [{ id: "a", next: { id: "b", next: { id: "c", next: { id: "a" } } } }, { id: "d" }]) { numUids } }',
  );
  const { data } = await ask('mutation { deleteN(filter: { id: { eq: "b" } }) { numUids } }');
  expect(data).toEqual({ deleteN: { numUids: 3 } });
  expect((await ask("{ queryN { id } }")).data).toEqual({ queryN: [{ id: "d" }] });
});

test("fields of interfaces, and edges to unions", async () => {
  context = await openGraphqlContext(`
    interface Owned { id: ID! owner: Owner @onDelete(action: CASCADE) }
    union Owner = Person | Firm
    type Car implements Owned { plate: String! @id }
    type House implements Owned { street: String! @id }
    type Person { name: String! @id }
    type Firm { name: String! @id }
  `);
  await ask(
    'mutation { addCar(input: [{ plate: "x", owner: { personRef: { name: "ann" } } }]) { numUids } addHouse(input: [{ street: "s", owner: { firmRef: { name: "acme" } } }]) { numUids } }',
  );
  expect((await ask("mutation { deletePerson(filter: {}) { numUids } }")).data).toEqual({
    deletePerson: { numUids: 2 },
  });
  expect((await ask("{ queryOwned { __typename } }")).data).toEqual({
    queryOwned: [{ __typename: "House" }],
  });
  expect((await ask("mutation { deleteOwned(filter: {}) { numUids } }")).data).toEqual({
    deleteOwned: { numUids: 1 },
  });
});

test("nodes of other types that share the predicate are no business of the field", async () => {
  context = await openGraphqlContext(`
    type T { id: String! @id }
    type A { id: String! @id t: T @dgraph(pred: "to") @onDelete(action: CASCADE) }
    type B { id: String! @id t: T @dgraph(pred: "to") }
  `);
  await ask(
    'mutation { addA(input: [{ id: "a", t: { id: "t" } }]) { numUids } addB(input: [{ id: "b", t: { id: "t" } }]) { numUids } }',
  );
  expect((await ask("mutation { deleteT(filter: {}) { numUids } }")).data).toEqual({
    deleteT: { numUids: 2 },
  });
  expect((await ask("{ queryA { id } queryB { id } }")).data).toEqual({
    queryA: [],
    queryB: [{ id: "b" }],
  });
});

const asUser = (name: string): Record<string, string> => ({ "x-test": tokenOf({ USER: name }) });

describe("rules and rights", () => {
  const sdl = (action: string): string => `
    type Team { name: String! @id }
    type Task @auth(
      query: { rule: "query($USER: String!) { queryTask(filter: { owner: { eq: $USER } }) { title } }" }
      delete: { rule: "query($USER: String!) { queryTask(filter: { owner: { eq: $USER } }) { title } }" }
    ) { title: String! @id owner: String @search(by: [hash]) team: Team @onDelete(action: ${action}) }
    # Dgraph.Authorization {"VerificationKey":"${testSecret}","Header":"X-Test","Namespace":"${testNamespace}","Algo":"HS256"}
  `;
  const deleteTeam = "mutation { deleteTeam(filter: {}) { numUids } }";

  async function fillTasks(action: string, owners: readonly string[]): Promise<void> {
    context = await openGraphqlContext(sdl(action));
    for (const [i, owner] of owners.entries()) {
      const added = await ask(
        `mutation { addTask(input: [{ title: "t${i}", owner: "${owner}", team: { name: "red" } }]) { numUids } }`,
      );
      expect(added.errors).toBeUndefined();
    }
  }

  test("who may not delete one of those that would go along deletes nothing", async () => {
    await fillTasks("CASCADE", ["ann", "bob"]);
    const ann = asUser("ann");
    expect((await ask(deleteTeam, ann)).errors?.[0]?.message).toBe(
      "mutation failed because authorization failed",
    );
    expect(
      await context.dql(
        "{ q(func: type(Task)) { count(uid) } t(func: type(Team)) { count(uid) } }",
      ),
    ).toEqual({
      q: [{ count: 2 }],
      t: [{ count: 1 }],
    });
  });

  test("who may deletes all", async () => {
    await fillTasks("CASCADE", ["ann", "ann"]);
    expect((await ask(deleteTeam, asUser("ann"))).data).toEqual({ deleteTeam: { numUids: 3 } });
  });

  test("RESTRICT holds for nodes that the caller does not see, and tells nothing of them", async () => {
    await fillTasks("RESTRICT", ["bob"]);
    const { errors } = await ask(deleteTeam, asUser("ann"));
    expect(errors?.[0]?.message).toMatch(/node 0x[\da-f]+ is referred to by Task\.team/);
    const { q } = (await context.dql('{ q(func: eq(Team.name, "red")) { uid } }')) as {
      q: [{ uid: string }];
    };
    expect(errors?.[0]?.message).toContain(q[0].uid);
  });

  test("a user who may not read the edge backwards is bound by it all the same", async () => {
    const rights: { predicate: string; permission: number }[] = [];
    context = await openGraphqlContext(blog("RESTRICT"), async () =>
      rights.length === 0
        ? anyPrincipal
        : { ...anyPrincipal, user: "mia", isGuardian: false, access: mergeRules(rights) },
    );
    await fill();
    for (const predicate of ["Writer.name", "Writer.posts", "dgraph.type"]) {
      rights.push({ predicate, permission: 6 });
    }
    expect((await remove("ann")).errors?.[0]?.message).toContain("is referred to by Post.writer");
  });
});

test("the budget of a request ends a deletion that spreads too far", async () => {
  context = await openGraphqlContext(
    "type N { id: String! @id next: N @onDelete(action: CASCADE) }",
  );
  const input = Array.from({ length: 400 }, (_, i) => ({ id: `n${i}`, next: { id: "hub" } }));
  const query = "mutation($input: [AddNInput!]!) { addN(input: $input) { numUids } }";
  await context.send(JSON.stringify({ query, variables: { input: [{ id: "hub" }, ...input] } }));
  const limits = { ...defaultLimits, queryWorkMax: 300 };
  const answer = await context.service.handle({
    kind: "json",
    body: JSON.stringify({
      query: 'mutation { deleteN(filter: { id: { eq: "hub" } }) { numUids } }',
    }),
    headers: {},
    remoteAddress: "127.0.0.1",
    timeoutMs: 0,
    budget: new RequestBudget({ clock: systemClock, limits, timeoutMs: 0 }),
  });
  expect(new TextDecoder().decode(answer.body)).toContain("query-work");
  expect((await ask("{ aggregateN { count } }")).data).toEqual({ aggregateN: { count: 401 } });
});

test("links that are added meanwhile are found, or find nothing to link to", async () => {
  context = await openGraphqlContext(blog("RESTRICT"));
  for (let i = 0; i < 30; i++) {
    await ask(`mutation { addWriter(input: [{ name: "w${i}" }]) { numUids } }`);
    await Promise.all([
      ask(
        `mutation { addPost(input: [{ title: "p${i}", writer: { name: "w${i}" } }]) { numUids } }`,
      ),
      remove(`w${i}`),
    ]);
  }
  const left = (await ask("{ queryPost { title writer { name } } queryWriter { name } }")).data as {
    queryPost: { writer: { name: string } | null }[];
  };
  expect(left.queryPost.filter(({ writer }) => writer === null)).toEqual([]);
});

test("a predicate that has lost its way back is told, and nothing is deleted", async () => {
  context = await openGraphqlContext(blog("RESTRICT"));
  await fill();
  await context.engine.alter(
    { kind: "schema", text: "Post.writer: uid .", runInBackground: false },
    0,
  );
  expect((await remove("ann")).errors?.[0]?.message).toContain(
    "@onDelete of Post.writer needs @reverse at the predicate Post.writer",
  );
});

test("without the directive a deletion is as in the reference", async () => {
  context = await openGraphqlContext(
    "type W { name: String! @id } type P { title: String! @id w: W! }",
  );
  await ask('mutation { addP(input: [{ title: "p", w: { name: "w" } }]) { numUids } }');
  expect((await ask("mutation { deleteW(filter: {}) { numUids } }")).data).toEqual({
    deleteW: { numUids: 1 },
  });
  expect(await context.dql("schema(pred: [P.w]) { reverse }")).toEqual({
    schema: [{ predicate: "P.w" }],
  });
});
