// Goal: where users log in, each way of writing takes the right to write every predicate that it touches, and tells
// nothing of what may not be read.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openGraphqlContext, type GraphqlContext } from "../../../test/support/graphql-context.ts";
import { mergeRules } from "../../auth/predicate-rights.ts";
import { anyPrincipal, type Principal } from "../../model/principal.ts";

let context: GraphqlContext;
let rules: Record<string, number> = {};

const sdl = `
  type Author { id: ID! login: String! @id name: String books: [Book] @hasInverse(field: author) badge: Badge }
  type Book { id: ID! title: String! @search(by: [exact]) author: Author }
  type Badge { code: String! @id }
`;
const all = [
  "Author.login",
  "Author.name",
  "Author.books",
  "Author.badge",
  "Book.title",
  "Book.author",
  "Badge.code",
  "dgraph.type",
];
const read = 4;
const write = 2;

/** What the user of the next requests may do: everything to everything, but what `less` says. */
function allow(less: Record<string, number>): void {
  rules = { ...Object.fromEntries(all.map((name) => [name, read + write])), ...less };
}

function visitorNow(): Principal {
  const list = Object.entries(rules).map(([predicate, permission]) => ({ predicate, permission }));
  return { ...anyPrincipal, user: "mia", isGuardian: false, access: mergeRules(list) };
}

const groot = { "x-who": "groot" };

async function ask(query: string, headers = {}): Promise<string> {
  return JSON.stringify(await context.send(JSON.stringify({ query }), headers));
}

/** Everything that is stored, as a guardian sees it. */
const look = (): Promise<string> =>
  ask(
    "{ queryAuthor(order: {asc: login}) { login name books(order: {asc: title}) { title } badge { code } } queryBook(order: {asc: title}) { title author { login } } queryBadge { code } }",
    groot,
  );

beforeAll(async () => {
  context = await openGraphqlContext(sdl, (headers) =>
    headers["x-who"] === "groot" ? anyPrincipal : visitorNow(),
  );
  await ask(
    `mutation { addAuthor(input: [
      { login: "ann", name: "Ann", books: [{ title: "Tides" }], badge: { code: "b1" } }
      { login: "bo", name: "Bo" } ]) { numUids } }`,
    groot,
  );
});
afterAll(() => context.close());

const refusal = (...names: string[]): string =>
  `unauthorized to mutate following predicates: ${names.map((name) => `${name} `).join("")}`;

/** A way of writing, and the predicates that it touches. */
const paths: readonly (readonly [string, string, readonly string[]])[] = [
  [
    "addT with values",
    'mutation { addAuthor(input: [{ login: "cy", name: "Cy" }]) { numUids } }',
    ["Author.login", "Author.name", "dgraph.type"],
  ],
  [
    "addT with new nodes below, and their way back",
    'mutation { addAuthor(input: [{ login: "cy", books: [{ title: "New" }] }]) { numUids } }',
    ["Author.login", "Author.books", "Book.title", "Book.author", "dgraph.type"],
  ],
  [
    "addT with a reference by id, and the way back of who had it",
    'mutation { addBook(input: [{ title: "New", author: { login: "ann" } }]) { numUids } }',
    ["Book.title", "Book.author", "Author.books", "dgraph.type"],
  ],
  [
    "addT over one that there is",
    'mutation { addAuthor(input: [{ login: "ann", name: "Ann Other" }], upsert: true) { numUids } }',
    ["Author.name"],
  ],
  [
    "updateT set",
    'mutation { updateAuthor(input: { filter: { login: { eq: "ann" } }, set: { name: "Ann Other" } }) { numUids } }',
    ["Author.name"],
  ],
  [
    "updateT set of an edge that another has, with its ways back",
    'mutation { updateAuthor(input: { filter: { login: { eq: "bo" } }, set: { books: [{ title: "Other" }] } }) { numUids } }',
    ["Author.books", "Book.title", "Book.author", "dgraph.type"],
  ],
  [
    "updateT remove of a value",
    'mutation { updateAuthor(input: { filter: { login: { eq: "ann" } }, remove: { name: "Ann" } }) { numUids } }',
    ["Author.name"],
  ],
  [
    "updateT remove of an edge, with its way back",
    'mutation { updateAuthor(input: { filter: { login: { eq: "ann" } }, remove: { badge: { code: "b1" } } }) { numUids } }',
    ["Author.badge"],
  ],
  [
    "deleteT, with the ways back to it",
    'mutation { deleteBook(filter: { title: { eq: "Tides" } }) { numUids } }',
    ["Author.books"],
  ],
];

describe.each(paths)("%s", (_name, mutation, touched) => {
  test.each(touched)("wants %s", async (predicate) => {
    const before = await look();
    allow({ [predicate]: read });
    const answer = await ask(mutation);
    expect(answer).toContain(refusal(predicate));
    expect(await look()).toBe(before);
  });
});

test("deleteT takes what may be taken of the node itself, and a right to nothing takes nothing", async () => {
  const before = await look();
  allow(Object.fromEntries(all.map((name) => [name, read])));
  await ask('mutation { deleteBook(filter: { title: { eq: "Tides" } }) { numUids } }');
  expect(await look()).toBe(before);
});

describe("what may not be read", () => {
  const add = (login: string): string =>
    `mutation { addBook(input: [{ title: "New", author: { login: "${login}" } }]) { book { title author { login } } } }`;

  test("an id that nobody may look up answers the same whether it is taken or not", async () => {
    const before = await look();
    // Neither read nor written: a look-up finds nothing, and a new node would need what may not be written.
    allow({ "Author.login": 0 });
    const taken = await ask(add("ann"));
    const free = await ask(add("zoe"));
    expect(taken.replaceAll("ann", "zoe")).toBe(free);
    expect(taken).toContain(refusal("Author.login"));
    const upsert = (login: string): string =>
      `mutation { addAuthor(input: [{ login: "${login}", name: "x" }], upsert: true) { numUids } }`;
    expect((await ask(upsert("ann"))).replaceAll("ann", "zoe")).toBe(await ask(upsert("zoe")));
    expect(await look()).toBe(before);
  });

  test("filters and payloads see what the user may read", async () => {
    const before = await look();
    allow({ "Author.login": write });
    const update =
      'mutation { updateAuthor(input: { filter: { login: { eq: "ann" } }, set: { name: "x" } }) { numUids author { login } } }';
    expect(JSON.parse(await ask(update))).toMatchObject({
      data: { updateAuthor: { numUids: 0, author: [] } },
    });
    const remove = 'mutation { deleteAuthor(filter: { login: { eq: "ann" } }) { numUids } }';
    expect(JSON.parse(await ask(remove))).toMatchObject({ data: { deleteAuthor: { numUids: 0 } } });
    expect(await look()).toBe(before);
    allow({ "Author.name": write });
    const named =
      'mutation { updateAuthor(input: { filter: { login: { eq: "bo" } }, set: { name: "Bo" } }) { author { login name } } }';
    expect(JSON.parse(await ask(named))).toEqual({
      data: { updateAuthor: { author: [{ login: "bo", name: null }] } },
    });
  });
});
