/**
 * The README's tour and the pages for users, replayed over the sample that comes with Weft: every request must give the answer
 * that is printed below it. `WEFT_DRAW=1` writes the answers anew.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "prettier";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeClient } from "../../src/load/client.ts";
import { sampleHeader } from "../../src/load/sample-sdl.ts";
import { makeSampleTokens } from "../../src/load/sample-tokens.ts";
import { cleanUp, makeFolder, root, runWeft, startServer } from "./server.ts";
import type { TestServer } from "./server.ts";

/**
 * A request is a fenced text of one of these languages; `schema` behind it says that it is one, `as USER` who asks. What
 * stands below in JSON is its variables, where it says so, and its answer: `data`, or all of it where it says `errors`;
 * with `uids` the uids of new nodes are left open.
 */
const stopPattern =
  /```(graphql|dql|rdf)( schema)?(?: as (\w+))?\n([^`]+)```\n+(?:```json variables\n([^`]+)```\n+)?```json(?: (errors|uids))?\n([^`]+)```/g;

interface Stop {
  readonly language: "graphql" | "dql" | "rdf";
  readonly isSchema: boolean;
  readonly user: string | undefined;
  readonly request: string;
  readonly variables: object | undefined;
  readonly shows: "errors" | "uids" | undefined;
  readonly answer: string;
}

function readStops(text: string): Stop[] {
  return [...text.matchAll(stopPattern)].map(
    ([, language, schema, user, request = "", variables, shows, answer = ""]) => ({
      language: language as Stop["language"],
      isSchema: schema !== undefined,
      user,
      request,
      variables: variables === undefined ? undefined : (JSON.parse(variables) as object),
      shows: shows as Stop["shows"],
      answer,
    }),
  );
}

class ServerContext {
  readonly server: TestServer;
  readonly #tokens: ReadonlyMap<string, string>;

  constructor(server: TestServer, tokens: ReadonlyMap<string, string>) {
    this.server = server;
    this.#tokens = tokens;
  }

  static async open(): Promise<ServerContext> {
    const flags = ["--lambda", join(root, "sample", "resolvers.js"), "--workers", "1"];
    const server = await startServer({ dataDir: join(makeFolder(), "data"), flags });
    const sample = await runWeft(["sample", "--to", server.url]);
    expect(sample.code, sample.stderr).toBe(0);
    const tokens = await makeSampleTokens(
      makeClient(server.url, { token: undefined, key: undefined }),
      Date.now(),
    );
    return new ServerContext(server, tokens ?? new Map<string, string>());
  }

  async ask(stop: Stop): Promise<unknown> {
    const { language, isSchema, request, variables, user } = stop;
    const plain = { graphql: "/graphql", dql: "/query", rdf: "/mutate?commitNow=true" }[language];
    const path = isSchema ? { graphql: "/admin/schema", dql: "/alter", rdf: "" }[language] : plain;
    const type = variables === undefined && !isSchema ? `application/${language}` : undefined;
    const response = await fetch(this.server.url + path, {
      method: "POST",
      headers: {
        "content-type": type ?? (isSchema ? "text/plain" : "application/json"),
        ...(user === undefined ? {} : { [sampleHeader]: this.#tokens.get(user) ?? "" }),
      },
      body: variables === undefined ? request : JSON.stringify({ query: request, variables }),
    });
    const { extensions: _, ...answer } = (await response.json()) as Answer;
    if (stop.shows === "errors" || answer.errors !== undefined) return answer;
    return stop.shows === "uids" ? hideUids(answer.data) : answer.data;
  }
}

interface Answer {
  readonly data?: unknown;
  readonly errors?: unknown;
  readonly extensions?: unknown;
}

function hideUids(data: unknown): unknown {
  const { uids, ...rest } = data as { readonly uids: object };
  return { ...rest, uids: Object.fromEntries(Object.keys(uids).map((name) => [name, "0x…"])) };
}

async function writeAnswers(file: string, answers: readonly unknown[]): Promise<void> {
  let i = 0;
  const text = readFileSync(file, "utf8").replaceAll(stopPattern, (whole, ...groups) => {
    const answer = groups[6] as string;
    const at = whole.lastIndexOf(answer);
    return `${whole.slice(0, at)}${JSON.stringify(answers[i++])}\n\`\`\``;
  });
  writeFileSync(file, await format(text, { parser: "markdown", printWidth: 100 }));
}

const pages = [
  "README.md",
  "docs/queries.md",
  "docs/mutations.md",
  "docs/dql.md",
  "docs/schema.md",
];

describe.each(pages)("%s", (page) => {
  const file = join(root, page);
  const read = (): Stop[] => readStops(readFileSync(file, "utf8"));
  let context: ServerContext;
  beforeAll(async () => {
    if (process.env["WEFT_DRAW"] === "1") await writeAnswers(file, await askAll(read()));
    context = await ServerContext.open();
  });
  afterAll(cleanUp);

  test("has requests with their answers", () => expect(read().length).toBeGreaterThan(3));

  test.each(read().map((_, i) => i + 1))("answer %i", async (number) => {
    const stop = read()[number - 1];
    if (stop === undefined) throw new Error("no such request");
    expect(await context.ask(stop)).toEqual(JSON.parse(stop.answer));
  });
});

/** In a house of their own: some of them write. */
async function askAll(stops: readonly Stop[]): Promise<unknown[]> {
  const context = await ServerContext.open();
  const answers: unknown[] = [];
  for (const stop of stops) answers.push(await context.ask(stop));
  return answers;
}
