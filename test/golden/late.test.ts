/**
 * Goal: a store that answers later gives the same bytes as one that answers at once. Where a result is there already, the
 * execution goes on without waiting (`MaybePromise`, src/base/maybe.ts), at some hundred places: each question of the
 * goldens is asked both ways.
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Reader } from "../../src/graph/reader.ts";
import { openItems } from "../support/items-graph.ts";
import { openLibrary } from "../support/library-graph.ts";
import { runDql } from "../support/run-dql.ts";

/** The same reader, whose every answer is a promise; so many of them were made. */
function answerLater(reader: Reader): { readonly late: Reader; readonly answers: () => number } {
  let answers = 0;
  const late = new Proxy(reader, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]): Promise<unknown> => {
        answers++;
        await Promise.resolve();
        return Reflect.apply(member, target, args) as unknown;
      };
    },
  });
  return { late, answers: () => answers };
}

const collections = [
  { folder: "dql", open: openLibrary },
  { folder: "items", open: openItems },
];

describe.each(collections)("$folder", ({ folder, open }) => {
  const place = new URL(`${folder}/`, import.meta.url);
  const names = readdirSync(place).filter((name) => name.endsWith(".dql"));
  const graph = open();

  test.each(names)("%s", async (name) => {
    const text = readFileSync(new URL(name, place), "utf8");
    const { late, answers } = answerLater(graph);
    expect(await runDql(late, text)).toBe(await runDql(graph, text));
    expect(answers()).toBeGreaterThan(0);
  });
});
