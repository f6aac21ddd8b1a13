/** Ways around a rule, each tried (reference/graphql 6): what a caller may not change stays as it is. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  ann,
  ask,
  bob,
  boss,
  close,
  data,
  expectRefused,
  mine,
  open,
  openWith,
  opened,
  type Answer,
} from "../../../test/support/rules-context.ts";
import { testNamespace, testSecret } from "../../../test/support/tokens.ts";

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
    expect(await opened().dql('{ q(func: eq(Doc.title, "x")) { count(uid) } }')).toEqual({
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
    expect(await opened().dql('{ q(func: eq(Doc.title, "x")) { count(uid) } }')).toEqual({
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
    expect(await opened().dql('{ q(func: eq(Doc.title, ["x", "y"])) { count(uid) } }')).toEqual({
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
      await opened().dql(
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
    await openWith(sdlOfNotes);
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
    opened().dql(
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
    expect(await opened().dql("{ q(func: uid(0x21)) { Doc.owner { User.handle } } }")).toEqual({
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
