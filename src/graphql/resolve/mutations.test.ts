/** Mutations end to end over an engine in memory (reference/graphql 5). */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openGraphqlContext } from "../../../test/support/graphql-context.ts";
import type { GraphqlContext } from "../../../test/support/graphql-context.ts";

let context: GraphqlContext;

beforeEach(async () => {
  context = await openGraphqlContext(`
    type Town { code: String! @id  name: String! @search(by: [hash])  mayor: Citizen  roads: [Town]  nameFr: String @dgraph(pred: "Town.name@fr") }
    type Citizen { id: ID!  taxNo: Int @id  name: String!  home: Town  tags: [String]  age: Int @default(add: {value: "1"}, update: {value: "2"}) }
    type Shelf { code: String! @id  books: [Book] @hasInverse(field: shelf) }
    type Book { id: ID!  title: String! @id  shelf: Shelf  twin: Book @hasInverse(field: twin)  note: String  ok: Boolean }
    interface Tool { tag: String! @id(interface: true) }
    type Saw implements Tool { teeth: Int }
    type Axe implements Tool { edge: Int }
    type Box { label: String! @id  tools: [Tool] }
  `);
});

afterEach(() => context.close());

async function data(query: string, variables?: unknown): Promise<unknown> {
  const answer = (await context.ask(query, variables)) as { data?: unknown; errors?: unknown };
  expect(answer.errors).toBe(undefined);
  return answer.data;
}

async function messages(query: string, variables?: unknown): Promise<readonly string[]> {
  const answer = (await context.ask(query, variables)) as { errors?: { message: string }[] };
  return answer.errors?.map((error) => error.message) ?? [];
}

const rewriting = (name: string, inner: string): string =>
  `couldn't rewrite mutation ${name} because failed to rewrite mutation payload because ${inner}`;

describe("add", () => {
  test("nested nodes, references, defaults", async () => {
    expect(
      await data(`mutation { addCitizen(input: [
        { taxNo: 1, name: "Ann", home: { code: "A", name: "Alfa", roads: [{ code: "B", name: "Bravo", roads: [{ code: "A" }] }] } },
        { taxNo: 2, name: "Bob", age: 7, home: { code: "B" }, tags: ["x", "y", "x"] }
      ]) { numUids citizen(order: {asc: taxNo}) { name age home { code roads { code } } tags } } }`),
    ).toEqual({
      addCitizen: {
        numUids: 4,
        citizen: [
          { name: "Ann", age: 1, home: { code: "A", roads: [{ code: "B" }] }, tags: [] },
          {
            name: "Bob",
            age: 7,
            home: { code: "B", roads: [{ code: "A" }] },
            tags: expect.arrayContaining(["x", "y"]),
          },
        ],
      },
    });
  });

  test("problems are told by the names of fields, those of ids before all others", async () => {
    const nested = `roads: [{ code: "R", name: "R" }, { code: "R", name: "S" }]`;
    expect(
      await messages(
        `mutation { addTown(input: [{ code: "", name: "X", ${nested} }]) { numUids } }`,
      ),
    ).toEqual([rewriting("addTown", "encountered an empty value for @id field `Town.code`")]);
    expect(
      await messages(
        `mutation { addBook(input: [{ title: "", shelf: { code: "S", books: [{ title: "" }] } }]) { numUids } }`,
      ),
    ).toEqual([
      rewriting("addBook", "encountered an empty value for @id field `Book.title`"),
      rewriting("addBook", "encountered an empty value for @id field `Book.title`"),
    ]);
    const lacking = `roads: [{ name: "No code" }]`;
    expect(
      await messages(
        `mutation { addTown(input: [{ code: "D", name: "X", ${lacking} }, { code: "D", name: "X" }]) { numUids } }`,
      ),
    ).toEqual([rewriting("addTown", "duplicate XID found: D")]);
    expect(
      await messages(
        `mutation { addTown(input: [{ code: "D", name: "X", ${lacking} }]) { numUids } }`,
      ),
    ).toEqual([rewriting("addTown", "field code cannot be empty")]);
  });

  test("the way back to the enclosing node makes no difference between two objects", async () => {
    expect(
      await data(`mutation { addShelf(input: [
        { code: "S1", books: [{ title: "One", note: "n" }] },
        { code: "S2", books: [{ title: "Two", shelf: { code: "elsewhere" } }] }
      ]) { numUids shelf(order: {asc: code}) { books { title shelf { code } } } } }`),
    ).toEqual({
      addShelf: {
        numUids: 4,
        shelf: [
          { books: [{ title: "One", shelf: { code: "S1" } }] },
          { books: [{ title: "Two", shelf: { code: "S2" } }] },
        ],
      },
    });
  });

  test("a nested node needs its required fields where an id is given, as in the reference", async () => {
    expect(
      await messages(
        `mutation { addTown(input: [{ code: "A", name: "Alfa", mayor: { taxNo: 5 } }]) { numUids } }`,
      ),
    ).toEqual([
      rewriting("addTown", "type Citizen requires a value for field name, but no value present"),
    ]);
    expect(
      await data(
        `mutation { addTown(input: [{ code: "A", name: "Alfa", mayor: { age: 5 } }]) { numUids town { mayor { age } } } }`,
      ),
    ).toEqual({ addTown: { numUids: 2, town: [{ mayor: { age: 5 } }] } });
  });

  test("a removal beside an empty set is refused, and changes nothing", async () => {
    await data('mutation { addCitizen(input: [{ name: "Ann", tags: ["x"] }]) { numUids } }');
    const update = (set: string): string =>
      `mutation { updateCitizen(input: { filter: {}, ${set} remove: { tags: ["x"] } }) { numUids } }`;
    expect(await messages(update("set: {},"))).toEqual([
      "mutation updateCitizen failed because not able to find set args in update mutation",
    ]);
    expect(await data("{ queryCitizen { tags } }")).toEqual({ queryCitizen: [{ tags: ["x"] }] });
    expect(await data(update("set: null,"))).toEqual({ updateCitizen: { numUids: 1 } });
    expect(await data("{ queryCitizen { tags } }")).toEqual({ queryCitizen: [{ tags: [] }] });
  });

  test("a removal by an unknown id is told what a new node would lack", async () => {
    const remove = (ref: string): string =>
      `mutation { updateTown(input: { filter: {}, remove: { mayor: ${ref} } }) { numUids } }`;
    expect(await messages(remove("{ taxNo: 99 }"))).toEqual([
      rewriting("updateTown", "type Citizen requires a value for field name, but no value present"),
    ]);
    expect(await messages(remove('{ name: "Nobody" }'))).toEqual([
      rewriting("updateTown", "id is not provided"),
    ]);
  });

  test("a reference to a node that the same input adds further on", async () => {
    expect(
      await data(
        'mutation { addTown(input: [{code: "A", name: "a", roads: [{code: "B"}]}, {code: "B", name: "b"}]) { numUids town(order: {asc: code}) { roads { name } } } }',
      ),
    ).toEqual({ addTown: { numUids: 2, town: [{ roads: [{ name: "b" }] }, { roads: [] }] } });
  });

  test("ids that are taken, repeated, empty or lacking", async () => {
    await data(
      'mutation { addTown(input: [{code: "A", name: "a"}]) { numUids } addCitizen(input: [{taxNo: 12, name: "x"}]) { numUids } }',
    );
    expect(
      await messages(
        'mutation { addTown(input: [{code: "A", name: "b"}, {code: "C", name: "c"}]) { numUids } }',
      ),
    ).toEqual([rewriting("addTown", "id A already exists for field code inside type Town")]);
    expect(
      await messages(
        'mutation { addTown(input: [{code: "D", name: "b"}, {code: "D", name: "b"}]) { numUids } }',
      ),
    ).toEqual([rewriting("addTown", "duplicate XID found: D")]);
    expect(
      await messages('mutation { addTown(input: [{code: "", name: "b"}]) { numUids } }'),
    ).toEqual([rewriting("addTown", "encountered an empty value for @id field `Town.code`")]);
    expect(
      await messages(
        'mutation { addCitizen(input: [{name: "n", home: {name: "z"}}]) { numUids } }',
      ),
    ).toEqual([rewriting("addCitizen", "field code cannot be empty")]);
    expect(
      await messages(
        'mutation { addCitizen(input: [{name: "n", home: {code: "Z"}}]) { numUids } }',
      ),
    ).toEqual([
      rewriting("addCitizen", "type Town requires a value for field name, but no value present"),
    ]);
    expect(await data("{ aggregateTown { count } aggregateCitizen { count } }")).toEqual({
      aggregateTown: { count: 1 },
      aggregateCitizen: { count: 1 },
    });
  });

  test("ids of an interface are unique in all its types", async () => {
    await data('mutation { addSaw(input: [{tag: "t"}]) { numUids } }');
    expect(await messages('mutation { addAxe(input: [{tag: "t"}]) { numUids } }')).toEqual([
      rewriting(
        "addAxe",
        "id t already exists for field tag in some other implementing type of interface Tool",
      ),
    ]);
    expect(
      await messages(
        'mutation { addBox(input: [{label: "b", tools: [{tag: "nobody"}]}]) { numUids } }',
      ),
    ).toEqual([rewriting("addBox", 'ID "nobody" isn\'t a Tool')]);
    expect(
      await data(
        'mutation { addBox(input: [{label: "b", tools: [{tag: "t"}]}]) { box { tools { __typename } } } }',
      ),
    ).toEqual({
      addBox: { box: [{ tools: [{ __typename: "Saw" }] }] },
    });
  });

  test("upsert updates what is there", async () => {
    await data(
      'mutation { addCitizen(input: [{taxNo: 5, name: "old", tags: ["a"]}]) { numUids } }',
    );
    expect(
      await data(
        'mutation { addCitizen(input: [{taxNo: 5, name: "new", tags: ["b"]}, {taxNo: 6, name: "six"}], upsert: true) { numUids citizen(order: {asc: taxNo}) { name age } } }',
      ),
    ).toEqual({
      addCitizen: {
        numUids: 1,
        citizen: [
          { name: "new", age: 2 },
          { name: "six", age: 1 },
        ],
      },
    });
  });
});

describe("inverse edges", () => {
  const shelves =
    "{ queryShelf(order: {asc: code}) { code books(order: {asc: title}) { title } } queryBook(order: {asc: title}) { title shelf { code } twin { title } } }";

  beforeEach(async () => {
    await data(
      'mutation { addShelf(input: [{code: "A", books: [{title: "a1"}, {title: "a2"}]}, {code: "B"}]) { numUids } addBook(input: [{title: "x", twin: {title: "y"}}]) { numUids } }',
    );
  });

  test("a single side that moves takes both edges along", async () => {
    await data(
      'mutation { updateBook(input: {filter: {title: {eq: "a1"}}, set: {shelf: {code: "B"}}}) { numUids } updateShelf(input: {filter: {code: {eq: "B"}}, set: {books: [{title: "a2"}, {title: "x"}]}}) { numUids } }',
    );
    expect(await data(shelves)).toMatchObject({
      queryShelf: [
        { code: "A", books: [] },
        { code: "B", books: [{ title: "a1" }, { title: "a2" }, { title: "x" }] },
      ],
    });
    expect(
      await context.dql("{ q(func: type(Shelf), orderasc: Shelf.code) { c: count(Shelf.books) } }"),
    ).toEqual({
      q: [{ c: 0 }, { c: 3 }],
    });
  });

  test("removal by null and by reference takes the other side too", async () => {
    await data(
      'mutation { updateShelf(input: {filter: {code: {eq: "A"}}, remove: {books: null}}) { numUids } updateBook(input: {filter: {title: {eq: "x"}}, remove: {twin: {title: "y"}}}) { numUids } }',
    );
    expect(
      await context.dql(
        "{ q(func: type(Book)) @filter(has(Book.shelf) OR has(Book.twin)) { uid } }",
      ),
    ).toEqual({ q: [] });
  });

  test("a field that is its own inverse gives up the old partner", async () => {
    await data(
      'mutation { updateBook(input: {filter: {title: {eq: "y"}}, set: {twin: {title: "a1"}}}) { numUids } }',
    );
    expect(await data(shelves)).toMatchObject({
      queryBook: [
        { title: "a1", twin: { title: "y" } },
        { title: "a2", twin: null },
        { title: "x", twin: null },
        { title: "y", twin: { title: "a1" } },
      ],
    });
  });

  test("a partner made in the same request takes over", async () => {
    await data(
      'mutation { updateBook(input: {filter: {title: {eq: "x"}}, set: {twin: {title: "z"}}}) { numUids } }',
    );
    expect(
      await data(
        '{ getBook(title: "y") { twin { title } } b: getBook(title: "z") { twin { title } } }',
      ),
    ).toEqual({
      getBook: { twin: null },
      b: { twin: { title: "x" } },
    });
  });

  test("a deleted node leaves no edge behind", async () => {
    expect(
      await data(
        'mutation { deleteBook(filter: {title: {in: ["a1", "y"]}}) { msg numUids book(order: {asc: title}) { title shelf { code } twin { title } } } }',
      ),
    ).toEqual({
      deleteBook: {
        msg: "Deleted",
        numUids: 2,
        book: [
          { title: "a1", shelf: { code: "A" }, twin: null },
          { title: "y", shelf: null, twin: { title: "x" } },
        ],
      },
    });
    expect(
      await context.dql(
        "{ q(func: type(Shelf), orderasc: Shelf.code) { c: count(Shelf.books) } t(func: has(Book.twin)) { uid } }",
      ),
    ).toEqual({
      q: [{ c: 1 }, { c: 0 }],
      t: [],
    });
  });
});

describe("update", () => {
  beforeEach(async () => {
    await data(
      'mutation { addBook(input: [{title: "a", note: "n", ok: true}, {title: "b", ok: true}]) { numUids } addTown(input: [{code: "T", name: "Ulm", nameFr: "Oulme"}]) { numUids } }',
    );
  });

  test("a value in remove is removed only where it is stored", async () => {
    expect(
      await data(
        'mutation { updateBook(input: {filter: {title: {eq: "a"}}, remove: {note: "", ok: false}}) { book { note ok } } }',
      ),
    ).toEqual({ updateBook: { book: [{ note: "n", ok: true }] } });
    expect(
      await data(
        'mutation { updateBook(input: {filter: {title: {eq: "a"}}, remove: {note: "n", ok: null}}) { book { note ok } } }',
      ),
    ).toEqual({ updateBook: { book: [{ note: null, ok: null }] } });
  });

  test("one language goes, the others stay", async () => {
    expect(
      await data(
        'mutation { updateTown(input: {filter: {code: {eq: "T"}}, remove: {name: null}}) { numUids } }',
      ),
    ).toEqual({ updateTown: { numUids: 1 } });
    expect(await context.dql("{ q(func: type(Town)) { Town.name Town.name@fr } }")).toEqual({
      q: [{ "Town.name@fr": "Oulme" }],
    });
  });

  test("an id may be set to its own value, not to another's, and not for several nodes", async () => {
    expect(
      await data(
        'mutation { updateBook(input: {filter: {title: {eq: "a"}}, set: {title: "a", note: "m"}}) { book { note } } }',
      ),
    ).toEqual({
      updateBook: { book: [{ note: "m" }] },
    });
    expect(
      await messages(
        'mutation { updateBook(input: {filter: {title: {eq: "a"}}, set: {title: "b"}}) { numUids } }',
      ),
    ).toEqual([rewriting("updateBook", "id b already exists for field title inside type Book")]);
    expect(
      await messages('mutation { updateBook(input: {filter: {}, set: {title: "c"}}) { numUids } }'),
    ).toEqual([
      "mutation updateBook failed because only one node is allowed in the filter while updating fields with @id directive",
    ]);
  });

  test("null says nothing in set, and nothing to do is no error", async () => {
    expect(
      await data(
        'mutation($s: BookPatch) { updateBook(input: {filter: {title: {eq: "a"}}, set: $s}) { numUids book { note } } }',
        { s: { note: null } },
      ),
    ).toEqual({ updateBook: { numUids: 1, book: [{ note: "n" }] } });
    expect(
      await data("mutation { updateBook(input: {filter: {}}) { numUids book { note } } }"),
    ).toEqual({
      updateBook: { numUids: 0, book: [] },
    });
  });
});

describe("several mutations", () => {
  test("run one after another; those behind a failure do not run", async () => {
    expect(
      await context.ask(
        'mutation { one: addTown(input: [{code: "A", name: "a"}]) { numUids } two: addTown(input: [{code: "A", name: "b"}]) { numUids } three: addTown(input: [{code: "C", name: "c"}]) { numUids } }',
      ),
    ).toEqual({
      errors: [
        {
          message: rewriting("addTown", "id A already exists for field code inside type Town"),
          path: ["two"],
        },
        {
          message: "Mutation three was not executed because of a previous error.",
          locations: [{ line: 1, column: 128 }],
          path: ["three"],
        },
      ],
      data: { one: { numUids: 1 }, two: null },
    });
    expect(await data("{ aggregateTown { count } }")).toEqual({ aggregateTown: { count: 1 } });
  });

  test("a literal out of range keeps all of them from running, in a prepared document too", async () => {
    const query = (age: string): string =>
      `mutation { a: addCitizen(input: [{name: "x", age: 1}]) { numUids } b: addCitizen(input: [{name: "y", age: ${age}}]) { numUids } }`;
    await data(query("2"));
    expect(await messages(query("2147483648"))).toEqual([
      "Out of range value '2147483648', for type `Int`",
    ]);
    expect(await data("{ aggregateCitizen { count } }")).toEqual({
      aggregateCitizen: { count: 2 },
    });
  });

  test("requests at the same time each keep their ids unique", async () => {
    const add = 'mutation { addTown(input: [{code: "same", name: "x"}]) { numUids } }';
    const answers = await Promise.all(Array.from({ length: 8 }, () => context.ask(add)));
    const added = answers.filter((answer) => !Object.hasOwn(answer as object, "errors"));
    expect(added).toHaveLength(1);
    expect(await data("{ aggregateTown { count } }")).toEqual({ aggregateTown: { count: 1 } });
  });

  test("the answer that cannot be read does not undo the write", async () => {
    expect(
      await context.ask(
        'mutation { addTown(input: [{code: "K", name: "k"}]) { numUids town(first: -1, order: {asc: code}) { code } } }',
      ),
    ).toMatchObject({
      errors: [{ path: ["addTown"] }],
      data: { addTown: { numUids: 1, town: [] } },
    });
    expect(await data("{ aggregateTown { count } }")).toEqual({ aggregateTown: { count: 1 } });
  });
});
