/** The tour of the README, replayed over a fixed set of packages: every request must give the answer printed there. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, makeFolder, root, runWeft, startServer } from "./server.ts";
import type { TestServer } from "./server.ts";

interface Stop {
  readonly language: "graphql" | "dql";
  readonly request: string;
  readonly answer: unknown;
}

const pairPattern = /```(graphql|dql)\n([^`]+)```\n+```json\n([^`]+)```/g;

/** Each request of the tour with the answer that stands below it. */
function readTour(): Stop[] {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const tour = readme.slice(readme.indexOf("## A tour"));
  return [...tour.matchAll(pairPattern)].map(([, language, request = "", answer = ""]) => ({
    language: language as Stop["language"],
    request,
    answer: JSON.parse(answer),
  }));
}

function layPackages(project: string): void {
  const text = readFileSync(join(root, "test", "e2e", "tour-packages.json"), "utf8");
  for (const [name, manifest] of Object.entries(JSON.parse(text) as Record<string, unknown>)) {
    const folder = join(project, "node_modules", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  }
}

async function ask(url: string, stop: Stop): Promise<unknown> {
  const path = stop.language === "dql" ? "/query" : "/graphql";
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": `application/${stop.language}` },
    body: stop.request,
  });
  const { data, errors } = (await answer.json()) as { data?: unknown; errors?: unknown };
  return errors ?? data;
}

const tour = readTour();

describe("the README's tour", () => {
  let server: TestServer;

  beforeAll(async () => {
    const project = makeFolder();
    layPackages(project);
    server = await startServer({ dataDir: join(makeFolder(), "data") });
    const sample = await runWeft(["sample", "--npm", project, "--to", server.url]);
    expect(sample.code, sample.stderr).toBe(0);
  });
  afterAll(cleanUp);

  test("has stops in both languages", () => {
    expect(new Set(tour.map((stop) => stop.language))).toEqual(new Set(["graphql", "dql"]));
  });

  test.each(tour.map((stop, i) => [i + 1, stop] as const))("stop %i", async (_, stop) => {
    expect(await ask(server.url, stop)).toEqual(stop.answer);
  });
});
