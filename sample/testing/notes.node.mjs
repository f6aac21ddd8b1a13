// An example for Node's own test runner: node --test notes.node.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, beforeEach, test } from "node:test";
import { openTestDatabase } from "weft/test";

const database = await openTestDatabase({
  schema: readFileSync(new URL("notes.graphql", import.meta.url), "utf8"),
  fixtures: (db) =>
    db.graphql(`mutation { addNote(input: [{ owner: "ann", text: "milk" }]) { numUids } }`),
});
beforeEach(() => database.reset());
after(() => database.close());

test("a token ends", async () => {
  const { header, token } = database.tokenOf({ USER: "ann" });
  const ask = () =>
    database.graphql("{ queryNote { text } }", {}, { headers: { [header]: token } });
  assert.deepEqual((await ask()).data, { queryNote: [{ text: "milk" }] });
  database.time.advance(2 * 3600 * 1000);
  assert.match((await ask()).errors?.[0]?.message ?? "", /expired/);
});

test("DQL sees what rules hide", async () => {
  const rows = await database.dql(
    "query q($o: string) { q(func: eq(Note.owner, $o)) { Note.text } }",
    {
      o: "ann",
    },
  );
  assert.deepEqual(rows, { q: [{ "Note.text": "milk" }] });
});
