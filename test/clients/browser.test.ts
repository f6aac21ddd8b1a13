// Goal: in a real browser the console does what it promises, under its policy, and GraphiQL in a page of another origin
// asks this server as docs/clients.md says.
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, makeFolder, post, runWeft, startServer } from "../e2e/server.ts";
import type { TestServer } from "../e2e/server.ts";
import { openBrowser, openPage, type WatchedPage } from "./browser.ts";
import { Kitchen, recipeSchema } from "./recipes.ts";

/** What of a page cannot be read, reached or named. */
const looks = readFileSync(join(import.meta.dirname, "page-looks.mjs"), "utf8");

let server: TestServer;
let browser: Browser;

beforeAll(async () => {
  const dataDir = makeFolder();
  [server, browser] = await Promise.all([
    startServer({
      dataDir,
      flags: ["--workers", "1", "--limit", "query-path=1000000000; query-memory=0"],
    }),
    openBrowser(),
  ]);
  const done = await post(`${server.url}/admin/schema`, recipeSchema);
  expect(done.json).toMatchObject({ data: { code: "Success" } });
});
afterAll(async () => {
  await browser.close();
  await cleanUp();
});

async function add(names: readonly string[]): Promise<void> {
  const input = names.map((name) => ({ name }));
  const query = "mutation($input: [AddPersonInput!]!) { addPerson(input: $input) { numUids } }";
  const { json } = await post(`${server.url}/graphql`, { query, variables: { input } });
  expect(json).toMatchObject({ data: { addPerson: { numUids: names.length } } });
}

/** Opens a view, tries it, and looks that the page had nothing to complain of. */
async function expectInView(
  view: string,
  attempt: (page: Page) => Promise<void>,
  theme: "light" | "dark" = "light",
): Promise<void> {
  const { page, complaints } = await openPage(browser, theme);
  await page.goto(`${server.url}/#/${view}`);
  await attempt(page);
  expect(complaints).toEqual([]);
  await page.context().close();
}

/** Puts a text in an editor, as somebody who pastes it. */
async function fill(page: Page, label: string, text: string): Promise<void> {
  const editor = page.getByRole("textbox", { name: label, exact: true });
  await editor.focus();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(text);
}

describe("the console", () => {
  test("GraphiQL shows the schema, runs a query with Ctrl-Enter and follows a subscription", async () => {
    await add(["gil"]);
    const { page, complaints } = await openPage(browser, "dark");
    await page.goto(`${server.url}/graphql`);
    await page.getByRole("button", { name: "Show Documentation Explorer" }).click();
    await page.getByText("UpdateTaskInput", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Open settings dialog" }).click();
    await page.getByRole("button", { name: "Close dialog" }).click();
    await writeQuery(page, '{ queryPerson(filter: { name: { eq: "gil" } }) { name } }');
    await page.keyboard.press("Control+Enter");
    await page.locator(".result-window").getByText('"gil"').waitFor();
    await writeQuery(page, "subscription Watch { queryTask { title owner { name } } }");
    // It reads what is written a moment later.
    const stored = (): Promise<string> => page.evaluate("Object.values(sessionStorage).join()");
    await expect.poll(stored).toContain('"operationName":"Watch"');
    await page.keyboard.press("Control+Enter");
    await page.locator(".result-window").getByText('"queryTask": []').waitFor();
    const task = { title: "watched", done: false, owner: { name: "gil" } };
    const query = "mutation($input: [AddTaskInput!]!) { addTask(input: $input) { numUids } }";
    await post(`${server.url}/graphql`, { query, variables: { input: [task] } });
    await page.locator(".result-window").getByText('"watched"').waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("GraphiQL asks the administration, too", () =>
    expectInView("graphql", async (page) => {
      await page.getByRole("tab", { name: "Administration" }).click();
      await page.getByRole("button", { name: "Show Documentation Explorer" }).click();
      await page.getByText("RunningRequest", { exact: true }).waitFor();
      await writeQuery(page, "{ health { status } }");
      await page.keyboard.press("Control+Enter");
      await page.locator(".result-window").getByText('"healthy"').first().waitFor();
    }));

  test("DQL is changed, written and asked; words are completed; plans are shown", () =>
    expectInView("dql", async (page) => {
      await page.getByRole("tab", { name: "Alter" }).click();
      await fill(
        page,
        "Predicates and types",
        "shelf: string @index(exact) .\nbooks: [uid] @reverse .",
      );
      await page.getByRole("button", { name: "Apply" }).click();
      await page.getByText('"Success"').first().waitFor();
      await page.getByRole("tab", { name: "Mutate" }).click();
      await fill(
        page,
        "Mutation, in RDF, in JSON or as an upsert",
        '{ set { _:s <shelf> "top" (no=3) .\n _:s <books> _:b (since=2006) .\n _:b <shelf> "book" . } }',
      );
      await page.getByRole("button", { name: "Commit" }).click();
      await page.getByText('"uids"').waitFor();
      await page.getByRole("tab", { name: "Query" }).click();
      await fill(page, "DQL query", "{ q(func: eq(");
      await page.keyboard.type("shel");
      await page.locator(".CodeMirror-hints").getByText("shelf").waitFor();
      await page.keyboard.press("Enter");
      await page.keyboard.insertText(', "top")) { uid shelf books { shelf } } }');
      await page.keyboard.press("Control+Enter");
      await page.getByRole("region", { name: "Answer" }).getByText('"top"').waitFor();
      await page.getByRole("button", { name: "Explain" }).click();
      await page.getByRole("rowheader", { name: "root seek: eq shelf" }).waitFor();
      await page.getByRole("button", { name: "Profile" }).click();
      await page.getByRole("tab", { name: "Plan" }).click();
      await page.getByRole("columnheader", { name: "Records" }).waitFor();
      await page.getByText("Variables", { exact: true }).click();
      await fill(page, "DQL query", "query q($s: string) { q(func: eq(shelf, $s)) { shelf } }");
      await fill(page, "Variables of the query, as JSON", '{ "$s": "book" }');
      await page.getByRole("button", { name: "Run" }).click();
      await page.getByRole("region", { name: "Answer" }).getByText('"book"').waitFor();
      await fill(page, "DQL query", "{ q(func: nothing) }");
      await page.getByRole("button", { name: "Run" }).click();
      await page.getByRole("alert").getByText("line 1 column").waitFor();
      // The answer of each tab is its own.
      await page.getByRole("tab", { name: "Mutate" }).click();
      await page.getByRole("region", { name: "Answer" }).getByText('"uids"').waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
      await page.getByRole("tab", { name: "Query" }).click();
      await page.getByRole("alert").getByText("line 1 column").waitFor();
    }));

  test("the data is walked: a type, its nodes by pages, a node, its edges there and back", async () => {
    await add(Array.from({ length: 60 }, (_, i) => `p${String(i).padStart(2, "0")}`));
    await expectInView("data", async (page) => {
      const nav = page.getByRole("navigation", { name: "Types" });
      await nav.getByRole("link", { name: /Person \d\d/ }).click();
      await page.getByRole("cell", { name: "p00", exact: true }).waitFor();
      await page.getByRole("button", { name: "Next" }).click();
      await page.getByRole("cell", { name: "p59", exact: true }).waitFor();
      await page.getByRole("button", { name: "Back" }).click();
      await page.getByRole("cell", { name: "p00", exact: true }).waitFor();
    });
    const { json } = await post(`${server.url}/query`, '{ q(func: eq(shelf, "top")) { uid } }');
    const [{ uid }] = (json as unknown as { data: { q: [{ uid: string }] } }).data.q;
    await expectInView("data", async (page) => {
      await page.getByRole("textbox", { name: "uid of a node" }).fill(uid);
      await page.keyboard.press("Enter");
      await page.getByRole("cell", { name: "top", exact: true }).waitFor();
      await page.getByText("since: 2006").waitFor();
      await page.locator(".nodes a").first().click();
      await page.getByRole("cell", { name: "book", exact: true }).waitFor();
      await page.getByText("~books").waitFor();
      await page.locator(".nodes a").first().click();
      await page.getByRole("cell", { name: "top", exact: true }).waitFor();
      await page.goBack();
      await page.getByRole("cell", { name: "book", exact: true }).waitFor();
    });
  });

  test("the schemas are shown, and a change is planned before it is set", () =>
    expectInView(
      "schema",
      async (page) => {
        await page.getByText("type").first().waitFor();
        await fill(page, "GraphQL schema", `${recipeSchema}\ntype Badge { code: String! @id }\n`);
        await expect(page.getByRole("button", { name: "Set" }).isDisabled()).resolves.toBe(true);
        await page.getByRole("button", { name: "Plan the change" }).click();
        await page.getByRole("rowheader", { name: "Badge", exact: true }).waitFor();
        await page.getByRole("button", { name: "Set" }).click();
        await page.getByText("The schema that is served").waitFor();
        await fill(page, "GraphQL schema", "type {");
        await page.getByRole("button", { name: "Plan the change" }).click();
        await page.getByRole("alert").waitFor();
        await page.getByRole("tab", { name: "Generated API" }).click();
        await page.getByRole("textbox", { name: "The generated API" }).waitFor();
        await page.getByRole("tab", { name: "Predicates" }).press("Enter");
        await page.getByRole("searchbox", { name: "Names with" }).fill("badge");
        await page.getByRole("rowheader", { name: "Badge.code" }).waitFor();
        await page.getByRole("tab", { name: "Predicates" }).press("ArrowRight");
        await page.getByRole("link", { name: "Badge" }).click();
        await page.getByText("There is no node of this type.").waitFor();
      },
      "dark",
    ));

  test("a schema that is wrong: all its problems, at their places, until they are mended; a draft is kept", () =>
    expectInView("schema", async (page) => {
      const editor = page.locator(".editor");
      await fill(page, "GraphQL schema", "type A {\n  id: ID!\n  b: Bee\n  c: [Cee]\n}\n");
      await page.getByRole("button", { name: "Plan the change" }).click();
      const told = page.getByRole("alert");
      await told.getByText("2 problems").waitFor();
      await told.getByText("Undefined type Cee.").waitFor();
      expect(await editor.locator(".problem-sign").count()).toBe(2);
      expect(await editor.locator(".problem-text").allTextContents()).toEqual([
        "Bee",
        "[",
        "Cee",
        "]",
      ]);
      await page.getByRole("button", { name: "Line 3, column 6" }).click();
      await page.keyboard.press("Control+Delete");
      await page.keyboard.insertText("Int");
      await told.getByText("1 problem", { exact: true }).waitFor();
      await page.getByRole("tab", { name: "Predicates" }).click();
      await page.getByRole("rowheader", { name: "dgraph.type" }).waitFor({ state: "detached" });
      await page.getByRole("tab", { name: "GraphQL schema" }).click();
      await editor.getByText("b: Int").waitFor();
      await page.getByRole("button", { name: "Discard" }).click();
      await page.getByText("The schema that is served").waitFor();
      await editor.getByText("addTask").waitFor({ state: "detached" });
    }));

  /** Whatever a view shows when it is there. */
  const views: readonly (readonly [view: string, shown: (page: Page) => Locator])[] = [
    ["graphql", (page) => page.getByText("queryType")],
    ["dql", (page) => page.getByRole("textbox", { name: "DQL query" })],
    ["schema", (page) => page.getByText("The schema that is served")],
    ["data/type/Person", (page) => page.getByRole("columnheader", { name: "uid" })],
    ["requests", (page) => page.getByText("running")],
    ["health", (page) => page.getByText("Highest uid")],
  ];
  test.each([
    ["light", 1280],
    ["dark", 400],
  ] as const)("%s and %i pixels wide all can be read, reached, and named", async (theme, width) => {
    const { page } = await openPage(browser, theme, width);
    const found: Record<string, unknown> = {};
    for (const [view, shown] of views) {
      await page.goto(`${server.url}/#/${view}`);
      await shown(page).first().waitFor();
      found[view] = await page.evaluate(looks);
    }
    expect(found).toEqual(Object.fromEntries(views.map(([view]) => [view, []])));
    await page.context().close();
  });

  test("as narrow as a telephone: GraphiQL's answer has its room, and so have its pages", async () => {
    const { page } = await openPage(browser, "light", 400);
    await page.goto(`${server.url}/#/graphql`);
    await writeQuery(page, "{ queryTask(first: 1) { title } }");
    await page.keyboard.press("Control+Enter");
    await page.locator(".result-window").getByText('"queryTask"').waitFor();
    const { width, height } = (await page.locator(".result-window").boundingBox()) ?? {};
    expect([Number(width) > 280, Number(height) > 150]).toEqual([true, true]);
    await page.getByRole("button", { name: "Show Documentation Explorer" }).click();
    const pages = await page.getByRole("region", { name: "Documentation Explorer" }).boundingBox();
    expect(pages?.width).toBeGreaterThan(280);
    await page.getByRole("button", { name: "Hide Documentation Explorer" }).click();
    await page.locator(".result-window").getByText('"queryTask"').waitFor();
    await page.context().close();
  });

  test("keys alone: from the first stop to a view, its tabs and its editor, and out of that again", async () => {
    const { page } = await openPage(browser, "light");
    await page.goto(`${server.url}/#/schema`);
    await page.getByText("The schema that is served").waitFor();
    const stop = async (key: string): Promise<string> => {
      await page.keyboard.press(key);
      return await page.evaluate(
        "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()",
      );
    };
    const names = [];
    for (let i = 0; i < 12; i++) names.push(await stop("Tab"));
    expect(names).toEqual(expect.arrayContaining(["DQL", "Schema", "Access", "GraphQL schema"]));
    await page.getByRole("tab", { name: "GraphQL schema" }).focus();
    expect(await stop("ArrowRight")).toBe("Generated API");
    expect(await stop("ArrowLeft")).toBe("GraphQL schema");
    expect(await stop("Tab")).toBe("GraphQL schema");
    expect(await stop("Shift+Tab")).toBe("GraphQL schema");
    await page.context().close();
  });

  test("a request that runs is shown, and is ended", async () => {
    await addMaze();
    const answer = post(`${server.url}/query?tag=long`, longQuery);
    await expectInView("requests", async (page) => {
      const row = page.getByRole("row").filter({ hasText: "long" });
      await row.getByRole("button", { name: "End query" }).click();
      await page.getByText("Nothing runs now").waitFor();
    });
    expect((await answer).json).toMatchObject({
      errors: [{ message: expect.stringContaining("ended by an administrator") }],
    });
  });

  test("health", () =>
    expectInView("health", async (page) => {
      await page.getByRole("heading", { name: "healthy" }).waitFor();
      await page.getByText("Highest uid").waitFor();
    }));
});

async function writeQuery(page: Page, text: string): Promise<void> {
  await page.locator(".graphiql-query-editor .CodeMirror-lines").click();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(text);
}

/** Every node leads to every other: a walk through them takes as long as one likes. */
async function addMaze(): Promise<void> {
  await post(`${server.url}/alter`, "leads: [uid] .");
  const numbers = Array.from({ length: 40 }, (_, i) => 0x10000 + i);
  const facts = numbers.flatMap((a) =>
    numbers.filter((b) => a !== b).map((b) => `<${a}> <leads> <${b}> .`),
  );
  const rdf = { "content-type": "application/rdf" };
  await post(`${server.url}/mutate?commitNow=true`, `{ set { ${facts.join("\n")} } }`, rdf);
}

const longQuery =
  "{ path as shortest(from: 0x10000, to: 0xffffff, numpaths: 100000) { leads } p(func: uid(path)) { uid } }";

describe("who asks", () => {
  let guarded: TestServer;
  let key: string;

  beforeAll(async () => {
    const dataDir = makeFolder();
    const made = await runWeft([
      "key",
      "create",
      "--data",
      dataDir,
      "--name",
      "me",
      "--kind",
      "admin",
    ]);
    key = made.stdout.trim();
    guarded = await startServer({ dataDir, flags: ["--workers", "1", "--anonymous", "off"] });
  });

  async function show({ page }: WatchedPage): Promise<void> {
    await page.goto(`${guarded.url}/#/schema`);
    await page.getByRole("button", { name: "Show a key or log in" }).click();
    await page.getByRole("textbox", { name: "Key" }).fill(key);
    await page.getByRole("button", { name: "Use" }).click();
    await page.getByText("The schema that is served").waitFor();
  }

  test("a key that was refused is asked for, used, kept by the tab alone, and forgotten", async () => {
    const opened = await openPage(browser, "light");
    const { page } = opened;
    await show(opened);
    const storages = (): Promise<string[]> =>
      page.evaluate(
        "[JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.cookie]",
      );
    const [local, session, cookies] = await storages();
    expect(local).not.toContain(key);
    expect(session).toContain(key);
    expect(cookies).toBe("");
    const other = await page.context().newPage();
    await other.goto(`${guarded.url}/#/schema`);
    await other.getByRole("button", { name: "Show a key or log in" }).waitFor();
    await page.getByRole("button", { name: "Credentials set" }).click();
    await page.getByRole("button", { name: "Forget all" }).click();
    await page.getByRole("button", { name: "Use" }).click();
    await page.getByRole("button", { name: "Show a key or log in" }).waitFor();
    expect((await storages()).join("")).not.toContain(key);
    await page.context().close();
  });
});

describe("a login", () => {
  let users: TestServer;

  beforeAll(async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, "secret"), "a secret that is long enough for this test");
    const flags = [
      "--workers",
      "1",
      "--acl",
      `secret-file=${join(folder, "secret")}; access-ttl=31s`,
    ];
    users = await startServer({ dataDir: join(folder, "data"), flags });
  });

  test("is told when it is wrong, used when it is right, renewed when it ends, and ended", async () => {
    const { page } = await openPage(browser, "dark");
    let renewals = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/login"))
        renewals += Number(request.postData()?.includes("refresh_token"));
    });
    await page.goto(`${users.url}/#/schema`);
    await page.getByRole("button", { name: "Show a key or log in" }).click();
    await page.getByRole("textbox", { name: "User" }).fill("groot");
    await page.getByRole("textbox", { name: "Password" }).fill("wrong");
    await page.getByRole("button", { name: "Log in", exact: true }).click();
    await page
      .getByRole("dialog")
      .getByRole("alert")
      .getByText("invalid username or password")
      .waitFor();
    await page.getByRole("textbox", { name: "Password" }).fill("password");
    await page.getByRole("textbox", { name: "Password" }).press("Enter");
    await page.getByText("in namespace 0").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("The schema that is served").waitFor();
    // Its half minute begins now: the next requests come with a new one.
    await page.waitForTimeout(1_500);
    await page.getByRole("tab", { name: "Predicates" }).click();
    await page.getByText("predicates", { exact: false }).last().waitFor();
    await expect.poll(() => renewals).toBeGreaterThan(0);
    await page.getByRole("button", { name: "groot" }).click();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Show a key or log in" }).waitFor();
    await page.context().close();
  });
});

test("what is stored is shown, and never run", async () => {
  const evil = '<img src=x onerror="document.title=1"><script>document.title=1</script>';
  const json = { "content-type": "application/json" };
  const fact = { "dgraph.type": "<b>Evil</b>", "evil.name": evil, "javascript:alert(1)": evil };
  const done = await post(`${server.url}/mutate?commitNow=true`, { set: [fact] }, json);
  expect(done.json).toMatchObject({ data: { code: "Success" } });
  const { json: found } = await post(`${server.url}/query`, "{ q(func: has(evil.name)) { uid } }");
  const [{ uid }] = (found as unknown as { data: { q: [{ uid: string }] } }).data.q;
  await expectInView(`data/node/${uid}`, async (page) => {
    await page.getByRole("cell", { name: evil }).first().waitFor();
    expect(await page.title()).toBe("Data – Weft");
    expect(await page.locator("main img, main script, main b").count()).toBe(0);
  });
});

describe("a page of another origin", () => {
  let kitchen: Kitchen;
  let pages: Server;
  let address: string;

  beforeAll(async () => {
    kitchen = new Kitchen(server.url);
    pages = createServer((_request, response) => {
      response.setHeader("content-type", "text/html");
      response.end(readFileSync(join(kitchen.folder, "graphiql.html")));
    });
    await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
    address = `http://localhost:${(pages.address() as AddressInfo).port}/`;
  });
  afterAll(() => {
    pages.close();
    kitchen.clean();
  });

  test("GraphiQL of docs/clients.md shows the schema and an answer", async () => {
    await add(["zoe"]);
    const { page } = await openPage(browser, "light");
    await page.route("https://unpkg.com/**", (route) =>
      route.fulfill({ path: findPublished(new URL(route.request().url()).pathname) }),
    );
    await page.goto(address);
    await page.getByRole("button", { name: "Show Documentation Explorer" }).click();
    await page.getByText("UpdateTaskInput", { exact: true }).waitFor();
    await writeQuery(page, '{ queryPerson(filter: { name: { eq: "zoe" } }) { name } }');
    await page.getByRole("button", { name: "Execute query" }).click();
    await expect(
      page.locator(".result-window").getByText('"zoe"').waitFor(),
    ).resolves.toBeUndefined();
    await page.context().close();
  });

  test("may not show the console in a frame", async () => {
    const { page, complaints } = await openPage(browser, "light");
    await page.goto(address);
    await page.setContent(`<iframe src="${server.url}/"></iframe>`);
    await expect.poll(() => complaints.join(" ")).toContain("frame-ancestors");
    await page.context().close();
  });
});

/** The file of a package that `/name@version/path` means. */
function findPublished(path: string): string {
  const [, name = "", file = ""] = /^\/([^@]+)@[\d.]+(\/.+)$/.exec(path) ?? [];
  const packages = createRequire(import.meta.url);
  return join(dirname(packages.resolve(`${name}/package.json`)), file);
}
