/**
 * A write to one side of an edge is a write to the other: nobody links a node that is hidden from him, nor changes from
 * the other side an edge that a rule goes by, unless he may update its node. And nobody learns what is hidden.
 */
import { afterEach, describe, expect, test } from "vitest";
import { openGraphqlContext } from "../../../test/support/graphql-context.ts";
import type { GraphqlContext } from "../../../test/support/graphql-context.ts";
import { testNamespace, testSecret, tokenOf } from "../../../test/support/tokens.ts";

const rule = (type: string, path: string): string =>
  `{ rule: "query($USER: String!) { query${type}${path} }" }`;
const self = rule("User", "(filter: { name: { eq: $USER } }) { name }");
const authorization = `# Dgraph.Authorization {"VerificationKey":"${testSecret}","Header":"X-Auth","Namespace":"${testNamespace}","Algo":"HS256"}`;
const refusal = "mutation failed because authorization failed";

let context: GraphqlContext | undefined;
afterEach(async () => {
  await context?.close();
  context = undefined;
});

interface Answer {
  readonly data: Record<string, unknown> | null;
  readonly errors?: readonly { readonly message: string }[];
}

async function ask(user: string, query: string): Promise<Answer> {
  const headers = { "x-auth": tokenOf({ USER: user }) };
  return (await context!.send(JSON.stringify({ query }), headers)) as Answer;
}

/** Opens a schema with what is stored, written without rules. */
async function open(sdl: string, facts: string): Promise<void> {
  context = await openGraphqlContext(`${sdl}\n${authorization}`);
  await context.engine.mutate({
    namespace: 0,
    body: { kind: "rdf", text: `{ set {\n${facts}\n} }` },
    startTs: 0,
    commitNow: true,
    timeoutMs: 0,
  });
}

const node = (id: string, type: string, values: Readonly<Record<string, string>>): string =>
  [
    ...type.split(" ").map((name) => `<${id}> <dgraph.type> "${name}" .`),
    ...Object.entries(values).map(
      ([name, value]) => `<${id}> <${name}> ${value.startsWith("<") ? value : `"${value}"`} .`,
    ),
  ].join("\n");

const both = (from: string, forward: string, to: string, back: string): string =>
  `<${from}> <${forward}> <${to}> .\n<${to}> <${back}> <${from}> .`;

/** Each is refused, in the same words as for what does not exist, and changes nothing. */
async function expectRefused(look: string, attempts: readonly string[]): Promise<void> {
  const before = await context!.dql(look);
  for (const attempt of attempts) {
    const answer = await ask("eve", `mutation { ${attempt} }`);
    expect(
      answer.errors?.map(({ message }) => message),
      attempt,
    ).toEqual([refusal]);
    expect(await context!.dql(look), attempt).toEqual(before);
  }
}

async function expectDone(user: string, mutation: string): Promise<void> {
  expect(await ask(user, `mutation { ${mutation} }`), mutation).not.toHaveProperty("errors");
}

const seenBy = async (user: string, query: string): Promise<unknown> =>
  (await ask(user, query)).data;

describe("a list that the query rule of its node reads", () => {
  const assigned = rule("Issue", " { assignees(filter: { name: { eq: $USER } }) { name } }");
  const sdl = (update: string): string => `
    type User @auth(update: ${self}) { name: String! @id  assigned: [Issue] @hasInverse(field: assignees) }
    type Issue @auth(query: ${assigned} ${update}) { id: ID!  slug: String! @id  text: String!  assignees: [User] }`;
  const facts = [
    node("0x1", "User", { "User.name": "ann" }),
    node("0x2", "User", { "User.name": "eve" }),
    node("0x11", "Issue", { "Issue.slug": "a1", "Issue.text": "secret" }),
    node("0x12", "Issue", { "Issue.slug": "a2", "Issue.text": "shared" }),
    both("0x11", "Issue.assignees", "0x1", "User.assigned"),
    both("0x12", "Issue.assignees", "0x1", "User.assigned"),
    both("0x12", "Issue.assignees", "0x2", "User.assigned"),
  ].join("\n");
  const look =
    "{ i(func: type(Issue)) { Issue.slug Issue.assignees { uid } } u(func: type(User)) { User.name User.assigned { uid } } }";
  const own = 'filter: { name: { eq: "eve" } }';

  test.each([
    ["with an update rule", `update: ${assigned}`],
    ["without one", ""],
  ])("nobody puts himself into it from the other side: %s", async (_, update) => {
    await open(sdl(update), facts);
    const attempts = ['{ slug: "a1", text: "mine" }', '{ id: "0x11" }'].flatMap((a1) => [
      `updateUser(input: { ${own}, set: { assigned: [${a1}] } }) { user { assigned { text } } }`,
      `updateUser(input: { ${own}, set: { assigned: [{ slug: "a2" }, ${a1}] } }) { user { assigned { text } } }`,
      `addUser(input: [{ name: "mal", assigned: [${a1}] }]) { user { assigned { text } } }`,
      `addUser(upsert: true, input: [{ name: "eve", assigned: [${a1}] }]) { user { assigned { text } } }`,
    ]);
    attempts.push(
      'addIssue(input: [{ slug: "n1", text: "n", assignees: [{ name: "mal", assigned: [{ slug: "a1", text: "mine" }] }] }]) { numUids }',
      `updateUser(input: { ${own}, set: { assigned: [{ slug: "n2", text: "n", assignees: [{ name: "mal", assigned: [{ slug: "a1", text: "x" }] }] }] } }) { numUids }`,
    );
    await expectRefused(look, attempts);
    expect(await seenBy("eve", "{ queryIssue { slug } }")).toEqual({
      queryIssue: [{ slug: "a2" }],
    });
  });

  test("whoever may update the node may do it from either side", async () => {
    await open(sdl(`update: ${assigned}`), facts);
    await expectDone("eve", 'updateUser(input: { filter: { name: { eq: "eve" } }, remove: { assigned: [{ slug: "a2" }] } }) { numUids }'); // prettier-ignore
    await expectDone("ann", 'updateIssue(input: { filter: { slug: { eq: "a1" } }, set: { assignees: [{ name: "eve" }] } }) { numUids }'); // prettier-ignore
    expect(await seenBy("eve", "{ queryIssue { slug } }")).toEqual({
      queryIssue: [{ slug: "a1" }],
    });
  });

  test("an id that a hidden node has answers as one that is free", async () => {
    await open(sdl(`update: ${assigned}`), facts);
    const attempts = (slug: string): string[] => [
      `updateUser(input: { ${own}, set: { assigned: [{ slug: "${slug}" }] } }) { numUids }`,
      `updateUser(input: { ${own}, remove: { assigned: [{ slug: "${slug}" }] } }) { numUids }`,
      `updateUser(input: { filter: { name: { eq: "nobody" } }, set: { assigned: [{ slug: "${slug}" }] } }) { numUids }`,
      `addUser(input: [{ name: "mal", assigned: [{ slug: "${slug}" }] }]) { numUids }`,
      `addUser(upsert: true, input: [{ name: "eve", assigned: [{ slug: "${slug}" }] }]) { numUids }`,
    ];
    const free = attempts("zz");
    for (const [i, attempt] of attempts("a1").entries()) {
      const hidden = JSON.stringify(await ask("eve", `mutation { ${attempt} }`));
      expect(hidden).toBe(JSON.stringify(await ask("eve", `mutation { ${free[i]!} }`)));
      expect(hidden).toContain("requires a value for field text");
    }
  });
});

describe("a list of a visible node that a rule goes by", () => {
  const lead = rule("Team", " { lead(filter: { name: { eq: $USER } }) { name } }");
  const sdl = `
    type User @auth(update: ${self}, delete: ${self}) { name: String! @id  teams: [Team] @hasInverse(field: members)  barred: [Team] @hasInverse(field: barred)  likes: [Team] @hasInverse(field: fans) }
    type Team @auth(update: ${lead}) { code: String! @id  lead: User  members: [User]  barred: [User]  fans: [User]  papers: [Paper] @hasInverse(field: team) }
    type Paper @auth(
      query: { and: [${rule("Paper", " { team { members(filter: { name: { eq: $USER } }) { name } } }")},
        { not: ${rule("Paper", " { team { barred(filter: { name: { eq: $USER } }) { name } } }")} }] }
      update: { rule: "{$ROLE: {eq: \\"ADMIN\\"}}" }
    ) { id: ID!  title: String!  team: Team }`;
  const facts = [
    node("0x1", "User", { "User.name": "ann" }),
    node("0x2", "User", { "User.name": "eve" }),
    node("0x3", "User", { "User.name": "bob" }),
    node("0x21", "Team", { "Team.code": "t1", "Team.lead": "<0x1>" }),
    node("0x31", "Paper", { "Paper.title": "secret" }),
    both("0x31", "Paper.team", "0x21", "Team.papers"),
    both("0x21", "Team.members", "0x1", "User.teams"),
    both("0x21", "Team.members", "0x3", "User.teams"),
    both("0x21", "Team.barred", "0x3", "User.barred"),
  ].join("\n");
  const look = "{ t(func: type(Team)) { Team.members { uid } Team.barred { uid } } }";
  const ownOf = (name: string): string => `filter: { name: { eq: "${name}" } }`;

  test("is changed from the other side by those who may update the node", async () => {
    await open(sdl, facts);
    await expectRefused(look, [
      `updateUser(input: { ${ownOf("eve")}, set: { teams: [{ code: "t1" }] } }) { numUids }`,
      `addUser(upsert: true, input: [{ name: "eve", teams: [{ code: "t1" }] }]) { numUids }`,
      'addUser(input: [{ name: "mal", teams: [{ code: "t1" }] }]) { numUids }',
    ]);
    const joins = `updateUser(input: { ${ownOf("ann")}, set: { teams: [{ code: "t1" }] } }) { numUids }`;
    await expectDone("ann", joins);
  });

  test("nobody takes himself out of what a rule bars him by", async () => {
    await open(sdl, facts);
    const before = await context!.dql(look);
    for (const barred of ['[{ code: "t1" }]', "null"]) {
      const answer = await ask("bob", `mutation { updateUser(input: { ${ownOf("bob")}, remove: { barred: ${barred} } }) { numUids } }`); // prettier-ignore
      expect(answer.errors?.[0]?.message).toBe(refusal);
    }
    expect(await context!.dql(look)).toEqual(before);
  });

  test("one that is there already is no change; a list that no rule reads is open to those who see the node", async () => {
    await open(sdl, facts);
    await expectDone("bob", `updateUser(input: { ${ownOf("bob")}, set: { teams: [{ code: "t1" }] } }) { numUids }`); // prettier-ignore
    await expectDone("eve", `updateUser(input: { ${ownOf("eve")}, set: { likes: [{ code: "t1" }] } }) { numUids }`); // prettier-ignore
    expect(await context!.dql("{ t(func: type(Team)) { Team.fans { User.name } } }")).toEqual({
      t: [{ "Team.fans": [{ "User.name": "eve" }] }],
    });
  });
});

describe("an edge that a rule follows backwards", () => {
  const granted = rule("Doc", " { readers(filter: { name: { eq: $USER } }) { name } }");
  const sdl = `
    type User @auth(update: ${self}) { name: String! @id  reads: [Doc]  main: Doc }
    type Doc @auth(query: ${granted}, update: { or: [${granted}, ${rule("Doc", " { mains(filter: { name: { eq: $USER } }) { name } }")}] }) {
      key: String! @id  text: String!  readers: [User] @dgraph(pred: "~User.reads")  mains: [User] @dgraph(pred: "~User.main") }`;
  const facts = [
    node("0x1", "User", { "User.name": "ann", "User.reads": "<0x11>", "User.main": "<0x12>" }),
    node("0x2", "User", { "User.name": "eve", "User.reads": "<0x12>", "User.main": "<0x12>" }),
    node("0x11", "Doc", { "Doc.key": "d1", "Doc.text": "secret" }),
    node("0x12", "Doc", { "Doc.key": "d2", "Doc.text": "shared" }),
  ].join("\n");
  const look = "{ q(func: type(User)) { User.reads { uid } User.main { uid } } }";
  const own = 'filter: { name: { eq: "eve" } }';

  test("leads to no hidden node", async () => {
    await open(sdl, facts);
    await expectRefused(look, [
      `updateUser(input: { ${own}, set: { reads: [{ key: "d1", text: "x" }] } }) { user { reads { text } } }`,
      `updateUser(input: { ${own}, set: { main: { key: "d1", text: "x" } } }) { numUids }`,
      'addUser(input: [{ name: "mal", reads: [{ key: "d1", text: "x" }] }]) { numUids }',
    ]);
    expect(await seenBy("eve", "{ queryDoc { key } }")).toEqual({ queryDoc: [{ key: "d2" }] });
  });

  test("and is let go by those who may update the node that it leads to", async () => {
    await open(sdl, facts);
    await context!.engine.mutate({ namespace: 0, body: { kind: "rdf", text: "{ delete { <0x2> <User.reads> <0x12> .\n <0x2> <User.main> <0x12> . } set { <0x2> <User.main> <0x11> . } }" }, startTs: 0, commitNow: true, timeoutMs: 0 }); // prettier-ignore
    // `main` names d1, which eve may update by it and not see.
    await expectDone("eve", `updateUser(input: { ${own}, remove: { main: null } }) { numUids }`);
    await expectRefused(look, [
      `updateUser(input: { ${own}, set: { main: { key: "d1", text: "x" } } }) { numUids }`,
    ]);
  });
});

describe("interfaces and unions", () => {
  const memberOf = (type: string): string =>
    rule(type, " { people(filter: { name: { eq: $USER } }) { name } }");
  const sdl = `
    type User @auth(update: ${self}) { name: String! @id  things: [Thing] @hasInverse(field: people)  all: [Any]  single: Thing @hasInverse(field: holder) }
    interface Thing { id: ID!  slug: String! @id(interface: true)  people: [User]  holder: User }
    type Issue implements Thing @auth(query: ${memberOf("Issue")}, update: ${memberOf("Issue")}) { text: String }
    type Project implements Thing { title: String! }
    union Any = Issue | Project`;
  const facts = [
    node("0x1", "User", { "User.name": "ann" }),
    node("0x2", "User", { "User.name": "eve" }),
    node("0x11", "Issue Thing", { "Thing.slug": "a1", "Issue.text": "secret" }),
    node("0x12", "Project Thing", { "Thing.slug": "p1", "Project.title": "open" }),
    both("0x11", "Thing.people", "0x1", "User.things"),
  ].join("\n");
  const look =
    "{ t(func: type(Thing)) { Thing.people { uid } Thing.holder { uid } } p(func: type(Project)) { Thing.slug } }";
  const own = 'filter: { name: { eq: "eve" } }';

  test("a hidden node is no end of an edge to its interface, and its id names it to nobody", async () => {
    await open(sdl, facts);
    await expectRefused(look, [
      `updateUser(input: { ${own}, set: { things: [{ id: "0x11" }] } }) { numUids }`,
      `updateUser(input: { ${own}, set: { single: { id: "0x11" } } }) { numUids }`,
      'addProject(input: [{ slug: "a1", title: "x" }]) { numUids }',
      'updateProject(input: { filter: { slug: { eq: "p1" } }, set: { slug: "a1" } }) { numUids }',
      `updateUser(input: { ${own}, set: { all: [{ projectRef: { slug: "a1", title: "x" } }] } }) { numUids }`,
    ]);
    const same = async (slug: string, mutation: (slug: string) => string): Promise<string> =>
      JSON.stringify(await ask("eve", `mutation { ${mutation(slug)} }`)).replaceAll(slug, "?");
    for (const mutation of [
      (slug: string) =>
        `updateUser(input: { ${own}, set: { things: [{ slug: "${slug}" }] } }) { numUids }`,
      (slug: string) =>
        `updateUser(input: { ${own}, set: { single: { slug: "${slug}" } } }) { numUids }`,
      (slug: string) =>
        `updateUser(input: { ${own}, set: { all: [{ projectRef: { slug: "${slug}" } }] } }) { numUids }`,
    ])
      // prettier-ignore
      expect(await same("a1", mutation)).toBe(await same("zz", mutation));
  });

  test("whoever sees it is told, and links what he may update", async () => {
    await open(sdl, facts);
    const add = 'mutation { addProject(input: [{ slug: "a1", title: "x" }]) { numUids } }';
    const [error] = (await ask("ann", add)).errors ?? [];
    expect(error?.message).toContain("in some other implementing type of interface Thing");
    await expectDone("eve", `updateUser(input: { ${own}, set: { things: [{ slug: "p1" }] } }) { numUids }`); // prettier-ignore
    await expectDone("ann", 'updateUser(input: { filter: { name: { eq: "ann" } }, set: { things: [{ slug: "a1" }], single: { slug: "a1" } } }) { numUids }'); // prettier-ignore
  });
});

test("a list that is cleared keeps the nodes that the caller does not see", async () => {
  const owned = rule("Note", "(filter: { owner: { eq: $USER } }) { text }");
  const sdl = `
    type Tag { word: String! @id  notes: [Note] @hasInverse(field: tags) }
    type Note @auth(query: ${owned}) { text: String!  owner: String! @search(by: [hash])  tags: [Tag] }`;
  const facts = [
    node("0x1", "Tag", { "Tag.word": "w" }),
    node("0x11", "Note", { "Note.text": "hers", "Note.owner": "ann" }),
    node("0x12", "Note", { "Note.text": "mine", "Note.owner": "eve" }),
    both("0x1", "Tag.notes", "0x11", "Note.tags"),
    both("0x1", "Tag.notes", "0x12", "Note.tags"),
  ].join("\n");
  await open(sdl, facts);
  await expectDone("eve", 'updateTag(input: { filter: { word: { eq: "w" } }, remove: { notes: null } }) { numUids }'); // prettier-ignore
  expect(
    await context!.dql(
      "{ t(func: uid(0x1)) { Tag.notes { Note.text Note.tags { Tag.word } } } m(func: uid(0x12)) { Note.tags { uid } } }",
    ),
  ).toEqual({
    // prettier-ignore
    t: [{ "Tag.notes": [{ "Note.text": "hers", "Note.tags": [{ "Tag.word": "w" }] }] }],
    m: [],
  });
});
