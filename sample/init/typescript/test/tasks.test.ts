// A database in memory, with the resolvers, as it was in the beginning for each test.
import { readFileSync } from "node:fs";
import { openTestDatabase } from "weft-graph/test";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { Schema } from "../weft/schema.js";

const database = await openTestDatabase<Schema>({
  schema: readFileSync("schema.graphql", "utf8"),
  lambda: "resolvers.ts",
  fixtures: (db) =>
    db.request(`mutation { addTask(input: [{ title: "Write a test" }]) { numUids } }`),
});
beforeEach(() => database.reset());
afterAll(() => database.close());

const finish = `mutation ($title: String!) { finishTask(title: $title) }`;

test("a task is open until it is finished", async () => {
  const labels = async () => (await database.graphql("{ queryTask { label } }")).data?.queryTask;
  expect(await labels()).toEqual([{ label: "[ ] Write a test" }]);
  expect((await database.graphql(finish, { title: "Write a test" })).data?.finishTask).toBe(true);
  expect(await labels()).toEqual([{ label: "[x] Write a test" }]);
});

test("a task that is not there cannot be finished", async () => {
  const { errors } = await database.graphql(finish, { title: "Sleep" });
  expect(errors).toMatchObject([
    { message: 'There is no open task "Sleep".', extensions: { code: "NO_SUCH_TASK" } },
  ]);
});
