// A database in memory, with the resolvers, as it was in the beginning for each test.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, beforeEach, test } from "node:test";
import { openTestDatabase } from "weft-graph/test";

const database = await openTestDatabase({
  schema: readFileSync("schema.graphql", "utf8"),
  lambda: "resolvers.js",
  fixtures: (db) =>
    db.request(`mutation { addTask(input: [{ title: "Write a test" }]) { numUids } }`),
});
beforeEach(() => database.reset());
after(() => database.close());

const finish = `mutation ($title: String!) { finishTask(title: $title) }`;

test("a task is open until it is finished", async () => {
  const labels = async () => (await database.graphql("{ queryTask { label } }")).data;
  assert.deepEqual(await labels(), { queryTask: [{ label: "[ ] Write a test" }] });
  const { data } = await database.graphql(finish, { title: "Write a test" });
  assert.deepEqual(data, { finishTask: true });
  assert.deepEqual(await labels(), { queryTask: [{ label: "[x] Write a test" }] });
});

test("a task that is not there cannot be finished", async () => {
  const { errors } = await database.graphql(finish, { title: "Sleep" });
  assert.equal(errors?.[0]?.message, 'There is no open task "Sleep".');
  assert.deepEqual(errors?.[0]?.extensions, { code: "NO_SUCH_TASK" });
});
