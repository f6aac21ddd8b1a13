// An example for vitest: one database for the file, as it was in the beginning for each test.
import { readFileSync } from "node:fs";
import { afterAll, beforeEach, expect, test } from "vitest";
import { openTestDatabase } from "weft/test";

const database = await openTestDatabase({
  schema: readFileSync(new URL("notes.graphql", import.meta.url), "utf8"),
  now: "2030-01-01T00:00:00Z",
  fixtures: (db) =>
    db.graphql(`mutation { addNote(input: [{ owner: "ann", text: "milk" }]) { numUids } }`),
});
beforeEach(() => database.reset());
afterAll(() => database.close());

interface Notes {
  queryNote: { text: string; written: string }[];
}
const notes = "{ queryNote(order: { asc: text }) { text written } }";

test("everybody sees their own notes", async () => {
  const own = await database.as({ USER: "ann" }).graphql<Notes>(notes);
  expect(own.data?.queryNote).toEqual([{ text: "milk", written: "2030-01-01T00:00:00Z" }]);
  const others = await database.as({ USER: "bob" }).graphql<Notes>(notes);
  expect(others.data?.queryNote).toEqual([]);
});

test("a note has the time at which it was written", async () => {
  database.time.advance(24 * 3600 * 1000);
  const add = `mutation($text: String!) { addNote(input: [{ owner: "ann", text: $text }]) { numUids } }`;
  await database.graphql(add, { text: "bread" });
  const { data } = await database.as({ USER: "ann" }).graphql<Notes>(notes);
  expect(data?.queryNote.map(({ text, written }) => [text, written])).toEqual([
    ["bread", "2030-01-02T00:00:00Z"],
    ["milk", "2030-01-01T00:00:00Z"],
  ]);
});
