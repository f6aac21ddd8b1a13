/**
 * Whatever somebody writes through a schema with rules, from either side of every edge, the nodes of somebody else stay
 * as they were: their values, and every edge that is theirs. (A node without rules may be deleted, and the edges to it
 * end with it: no such deletes are drawn.)
 */
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { openGraphqlContext } from "../../../test/support/graphql-context.ts";
import type { GraphqlContext } from "../../../test/support/graphql-context.ts";
import { runs } from "../../../test/support/runs.ts";
import { testNamespace, testSecret, tokenOf } from "../../../test/support/tokens.ts";

const mine = '{ rule: "query($USER: String!) { queryNote(filter: {by: {eq: $USER}}) { id } }" }';

const sharedBy = (path: string): string =>
  `{ rule: "query($USER: String!) { queryNote { ${path}(filter: {handle: {eq: $USER}}) { handle } } }" }`;
const inTeam = (edge: string): string =>
  `{ rule: "query($USER: String!) { queryNote { team { ${edge}(filter: {handle: {eq: $USER}}) { handle } } } }" }`;
const seen = `{ or: [${[mine, sharedBy("readers"), inTeam("members"), inTeam("fans")].join()}] }`;
const admin = '{ rule: "{$ROLE: {eq: \\"ADMIN\\"}}" }';

/**
 * Notes belong to whom `by` names, and are shown to their readers and to who is in their team, too; teams are seen by
 * everybody and changed by nobody; users, folders and tags have no rules.
 */
const sdl = `
  type User { handle: String! @id  notes: [Note] @hasInverse(field: owner)  pinned: Note @hasInverse(field: pinner)
    reads: [Note] @hasInverse(field: readers)  teams: [Team] @hasInverse(field: members)  likes: [Team]  best: Team }
  type Team @auth(update: ${admin}) { code: String! @id  members: [User]  fans: [User] @dgraph(pred: "~User.likes")  bests: [User] @dgraph(pred: "~User.best") }
  type Note @auth(query: ${seen}, add: ${mine}, update: ${mine}, delete: ${mine}) {
    id: ID!  by: String! @search(by: [hash])  code: String @id  text: String
    owner: User  pinner: User  readers: [User]  team: Team  next: Note @hasInverse(field: previous)  previous: Note
    folder: Folder @hasInverse(field: notes)  tags: [Tag] @hasInverse(field: notes)
  }
  type Folder { name: String! @id  notes: [Note]  cover: Note }
  type Tag { name: String! @id  notes: [Note]  best: Note }
  # Dgraph.Authorization {"VerificationKey":"${testSecret}","Header":"X-Auth","Namespace":"${testNamespace}","Algo":"HS256"}
`;

const annNotes = ["0x11", "0x12"];
const bobNotes = ["0x21", "0x22", "0x23"];
/**
 * A note's own: edges that lead to it belong to the node that they come from. What is added to a list from its other
 * side is no change of its holder (nobody could comment on another's post), unless a rule goes by the list: its tags
 * may change, its readers may not.
 */
const ofNotes =
  "Note.by Note.code Note.text dgraph.type Note.owner { uid } Note.pinner { uid } Note.next { uid } Note.previous { uid } Note.folder { uid } Note.readers { uid }";

let context: GraphqlContext | undefined;
afterEach(async () => {
  await context?.close();
  context = undefined;
});

async function open(): Promise<GraphqlContext> {
  const opened = await openGraphqlContext(sdl);
  const lines: string[] = [];
  const node = (id: string, type: string, values: Readonly<Record<string, string>>): void => {
    lines.push(`<${id}> <dgraph.type> "${type}" .`);
    for (const [name, value] of Object.entries(values)) {
      lines.push(`<${id}> <${type}.${name}> ${value.startsWith("<") ? value : `"${value}"`} .`);
    }
  };
  node("0x1", "User", { handle: "ann" });
  node("0x2", "User", { handle: "bob" });
  for (const [i, id] of annNotes.entries())
    node(id, "Note", { by: "ann", code: `a${i}`, text: "t" });
  for (const [i, id] of bobNotes.entries())
    node(id, "Note", { by: "bob", code: `b${i}`, text: "t" });
  node("0x31", "Folder", { name: "f1" });
  node("0x32", "Folder", { name: "f2" });
  node("0x41", "Tag", { name: "t1" });
  node("0x51", "Team", { code: "c1" });
  lines.push("<0x2> <User.likes> <0x51> .", "<0x21> <Note.team> <0x51> .");
  for (const [from, forward, to, back] of [
    ["0x21", "Note.owner", "0x2", "User.notes"],
    ["0x22", "Note.owner", "0x2", "User.notes"],
    ["0x11", "Note.owner", "0x1", "User.notes"],
    ["0x21", "Note.pinner", "0x2", "User.pinned"],
    ["0x21", "Note.next", "0x22", "Note.previous"],
    ["0x21", "Note.folder", "0x31", "Folder.notes"],
    ["0x11", "Note.folder", "0x31", "Folder.notes"],
    ["0x22", "Note.tags", "0x41", "Tag.notes"],
    ["0x22", "Note.readers", "0x2", "User.reads"],
    ["0x23", "Note.readers", "0x1", "User.reads"],
    ["0x51", "Team.members", "0x2", "User.teams"],
  ] as const) {
    lines.push(`<${from}> <${forward}> <${to}> .`, `<${to}> <${back}> <${from}> .`);
  }
  await opened.engine.mutate({
    namespace: 0,
    body: { kind: "rdf", text: `{ set {\n${lines.join("\n")}\n} }` },
    startTs: 0,
    commitNow: true,
    timeoutMs: 0,
  });
  return opened;
}

// Objects as mutations take them, to three levels, that name nodes by id, by @id, or make them.
const noteRef = fc.constantFrom(
  ...[...annNotes, ...bobNotes].map((id) => `{id: "${id}"}`),
  ...["a0", "b0", "b1", "b2"].map((code) => `{code: "${code}"}`),
  '{by: "ann", code: "b2", text: "taken"}',
  '{by: "ann", text: "new"}',
  '{by: "bob", text: "forged"}',
);
const many = (one: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(one, { minLength: 1, maxLength: 3 }).map((all) => `[${all.join()}]`);
const object = (parts: fc.Arbitrary<readonly string[]>): fc.Arbitrary<string> =>
  parts.map((all) => `{${all.join()}}`);
const part = (name: string, value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  value.map((text) => `${name}: ${text}`);

const team = fc.constantFrom('{code: "c1"}', '{code: "c2"}');

function userParts(depth: number): fc.Arbitrary<string> {
  return fc.oneof(
    part("notes", many(note(depth))),
    part("reads", many(note(depth))),
    part("pinned", note(depth)),
    part("teams", many(team)),
    part("likes", many(team)),
    part("best", team),
  );
}
const folderParts = (depth: number): fc.Arbitrary<string> =>
  fc.oneof(part("notes", many(note(depth))), part("cover", note(depth)));
const tagParts = (depth: number): fc.Arbitrary<string> =>
  fc.oneof(part("notes", many(note(depth))), part("best", note(depth)));
function noteParts(depth: number): fc.Arbitrary<string> {
  return fc.oneof(
    part("owner", named("handle", ["ann", "bob", "cid"], userParts, depth)),
    part("pinner", named("handle", ["ann", "bob", "cid"], userParts, depth)),
    part("readers", many(named("handle", ["ann", "bob", "cid"], userParts, depth))),
    part("next", note(depth)),
    part("previous", note(depth)),
    part("folder", named("name", ["f1", "f2", "f3"], folderParts, depth)),
    part("tags", many(named("name", ["t1", "t2"], tagParts, depth))),
    fc.constant('text: "changed"'),
  );
}

function named(
  key: string,
  names: readonly string[],
  parts: (depth: number) => fc.Arbitrary<string>,
  depth: number,
): fc.Arbitrary<string> {
  const name = fc.constantFrom(...names).map((text) => `${key}: "${text}"`);
  if (depth === 0) return object(name.map((text) => [text]));
  return object(
    fc
      .tuple(name, fc.uniqueArray(parts(depth - 1), { maxLength: 2, selector: keyOf }))
      .map(([first, rest]) => [first, ...rest]),
  );
}

function note(depth: number): fc.Arbitrary<string> {
  if (depth === 0) return noteRef;
  const made = fc
    .tuple(
      fc.constantFrom('by: "ann"', 'by: "bob"', 'by: "ann", code: "b1"', 'by: "ann", code: "n1"'),
      fc.uniqueArray(noteParts(depth - 1), { maxLength: 2, selector: keyOf }),
    )
    .map(([first, rest]) => `{${[first, ...rest].join()}}`);
  return fc.oneof(noteRef, made);
}

const keyOf = (text: string): string => text.split(":", 1)[0] ?? "";

const patchOf = (parts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  object(fc.uniqueArray(parts, { minLength: 1, maxLength: 3, selector: keyOf }));
const shallow = (parts: fc.Arbitrary<string>): fc.Arbitrary<string> => patchOf(parts);

function update(
  type: string,
  filter: fc.Arbitrary<string>,
  parts: (depth: number) => fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  const how = fc.oneof(part("set", patchOf(parts(2))), part("remove", shallow(parts(0))));
  return fc
    .tuple(filter, how)
    .map(([which, change]) => `update${type}(input: {filter: ${which}, ${change}}) { numUids }`);
}

const of = (key: string, ...names: readonly string[]): fc.Arbitrary<string> =>
  fc.constantFrom(...names.map((name) => `{${key}: {eq: "${name}"}}`));
const upsert = fc.constantFrom("", ", upsert: true");
const mutation = fc.oneof(
  fc
    .tuple(many(note(2).filter((text) => text.includes("by:"))), upsert)
    .map(([input, how]) => `addNote(input: ${input}${how}) { numUids }`),
  fc
    .tuple(many(named("handle", ["ann", "bob", "cid"], userParts, 2)), upsert)
    .map(([input, how]) => `addUser(input: ${input}${how}) { numUids }`),
  fc
    .tuple(many(named("name", ["f1", "f2", "f3"], folderParts, 2)), upsert)
    .map(([input, how]) => `addFolder(input: ${input}${how}) { numUids }`),
  update("User", of("handle", "ann", "bob"), userParts),
  update("Note", fc.constantFrom('{id: ["0x11"]}', '{id: ["0x21", "0x22"]}', "{}"), noteParts),
  update("Folder", of("name", "f1", "f2"), folderParts),
  update("Tag", of("name", "t1"), tagParts),
  fc
    .constantFrom("{}", '{id: ["0x21"]}')
    .map((which) => `deleteNote(filter: ${which}) { numUids }`),
);

const notesOf = (opened: GraphqlContext, ids: readonly string[]): Promise<unknown> =>
  opened.dql(
    `{ q(func: uid(${ids.join()})) { uid ${ofNotes} } t(func: uid(0x51)) { Team.members { uid } ~User.likes { uid } } }`,
  );

test("nobody else's node is changed, by a write to any side of its edges", async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 4 }), async (mutations) => {
      context = await open();
      for (const text of mutations) {
        const before = await notesOf(context, bobNotes);
        const body = JSON.stringify({ query: `mutation { ${text} }` });
        const told = await context.send(body, { "x-auth": tokenOf({ USER: "ann" }) });
        if (!("errors" in (told as object))) accepted++;
        expect(await notesOf(context, bobNotes), `${text}\n${JSON.stringify(told)}`).toEqual(
          before,
        );
      }
      await context.close();
      context = undefined;
    }),
    { numRuns: runs(40) },
  );
  expect(accepted).toBeGreaterThan(10);
}, 600_000);
