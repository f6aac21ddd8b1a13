// Goal: weft import makes nodes of tables and objects as a mapping says, tells what it cannot take, and makes nothing twice.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  cleanUp,
  makeFolder,
  post,
  root,
  runWeft,
  startServer,
  type TestServer,
  weft,
} from "./server.ts";

const schema = `
enum Status { NEW KNOWN }
type Country { code: String! @id  people: [Person] @hasInverse(field: country) }
type Badge { number: Int64! @id  holder: Person @hasInverse(field: badge) }
type Person {
  id: ID!
  email: String! @id
  name: String! @search(by: [hash])
  nameDe: String @dgraph(pred: "Person.name@de")
  born: DateTime
  height: Float
  shoe: Int
  active: Boolean
  status: Status @default(add: { value: "NEW" })
  nicks: [String]
  at: Point
  country: Country
  boss: Person
  badge: Badge
  source: String
}
type Reading { id: ID!  sensor: String! @search(by: [hash])  value: Float!  at: DateTime }
`;

let server: TestServer;
let folder: string;

beforeAll(async () => {
  folder = makeFolder();
  server = await startServer({ dataDir: makeFolder(), flags: ["--workers", "1"] });
  expect((await post(`${server.url}/admin/schema`, schema)).text).toContain("Success");
});
afterAll(cleanUp);

function put(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, name.endsWith(".gz") ? gzipSync(text) : text);
  return file;
}

const take = (...args: string[]): ReturnType<typeof runWeft> =>
  runWeft(["import", "--to", server.url, ...args]);

async function ask(query: string): Promise<unknown> {
  return (await post(`${server.url}/graphql`, { query })).json["data"];
}

const peopleMapping = `
type: Person
separator: ";"
decimal: ","
null: ["", "-"]
booleans: { true: ja, false: nein }
columns:
  mail: email
  Name: name
  Name (de): nameDe
  geboren: { field: born, date: [DD.MM.YYYY, YYYY] }
  Größe: height
  shoe: shoe
  aktiv: active
  nicks: { field: nicks, separator: "|" }
  Ort: { field: at, geo: "lat,lon" }
  land: { field: country, by: code, missing: create }
  chef: { field: boss, by: email, missing: create }
  notes: skip
constants:
  source: crm
`;
const peopleHeader = "mail;Name;Name (de);geboren;Größe;shoe;aktiv;nicks;Ort;land;chef;notes\n";

describe("a table", () => {
  test("its columns become fields: dates, numbers, lists, languages, places, links, constants", async () => {
    const mapping = put("people.yaml", peopleMapping);
    const files = put(
      "people.csv.gz",
      `\uFEFF${peopleHeader}ann@x.example;"Ann; ""A""\nA.";Änne;31.12.1999;1,75;38;ja;a|b;59,91 10,75;NO;bob@x.example;x\n` +
        "bob@x.example;Bob;-;1970;-;-;nein;;;NO;;\n",
    );
    const ended = await take("--mapping", mapping, "--files", files);
    expect([ended.code, ended.stderr]).toEqual([
      1,
      expect.stringContaining(`${files}:2, column 9 (Ort): at: "59,91 10,75" is not lat,lon`),
    ]);
    const again = put(
      "people.csv.gz",
      `\uFEFF${peopleHeader}ann@x.example;"Ann; ""A""\nA.";Änne;31.12.1999;1,75;38;ja;a|b;59.91 10.75;NO;bob@x.example;x\n` +
        "bob@x.example;Bob;-;1970;-;-;nein;;;NO;;\n",
    );
    const taken = await take("--mapping", mapping, "--files", again);
    expect([taken.code, taken.stderr]).toEqual([0, ""]);
    expect(taken.stdout).toContain("2 nodes made, 0 updated, 1 made for links");
    const { queryPerson } = (await ask(
      `{ queryPerson(order: { asc: email }) {
        email name nameDe born height shoe active status nicks at { latitude longitude }
        country { code people { email } } boss { name } source } }`,
    )) as { queryPerson: { country: { people: unknown[] } }[] };
    expect(queryPerson).toEqual([
      {
        email: "ann@x.example",
        name: 'Ann; "A"\nA.',
        nameDe: "Änne",
        born: "1999-12-31T00:00:00Z",
        height: 1.75,
        shoe: 38,
        active: true,
        status: "NEW",
        nicks: expect.arrayContaining(["a", "b"]),
        at: { latitude: 59.91, longitude: 10.75 },
        country: {
          code: "NO",
          people: expect.arrayContaining([{ email: "ann@x.example" }, { email: "bob@x.example" }]),
        },
        boss: { name: "Bob" },
        source: "crm",
      },
      expect.objectContaining({
        email: "bob@x.example",
        born: "1970-01-01T00:00:00Z",
        active: false,
        boss: null,
      }),
    ]);
    expect(queryPerson[0]?.country.people).toHaveLength(2);
  });

  test("a row whose key is there updates its node, and edges move with both their sides", async () => {
    const badges = put(
      "badges.yaml",
      "type: Person\ncolumns: { email: email, badge: { field: badge, missing: create }, country: { field: country, missing: create } }",
    );
    const one = put("badges.csv", "email,badge,country\nann@x.example,9007199254740993,SE\n");
    const first = await take("--mapping", badges, "--files", one);
    expect([first.code, first.stdout]).toEqual([
      0,
      expect.stringContaining("0 nodes made, 1 updated, 2 made for links"),
    ]);
    const two = put("badges2.csv", "email,badge,country\nbob@x.example,9007199254740993,SE\n");
    expect((await take("--mapping", badges, "--files", two)).stderr).toBe("");
    expect(
      await ask(
        '{ queryPerson(order: { asc: email }) { badge { number } } queryBadge { holder { email } } no: getCountry(code: "NO") { people { email } } }',
      ),
    ).toEqual({
      queryPerson: [{ badge: null }, { badge: { number: 9007199254740992 } }],
      queryBadge: [{ holder: { email: "bob@x.example" } }],
      no: { people: [] },
    });
  });

  test("existing: keep and refuse", async () => {
    const rows = put("known.csv", "email,name\nnew@x.example,New\nbob@x.example,Robert\n");
    const keep = put(
      "keep.yaml",
      "type: Person\nexisting: keep\ncolumns: { email: email, name: name }",
    );
    expect((await take("--mapping", keep, "--files", rows)).stdout).toContain(
      "1 node made, 0 updated, 1 left as they were",
    );
    const refuse = put(
      "refuse.yaml",
      "type: Person\nexisting: refuse\ncolumns: { email: email, name: name }",
    );
    const ended = await take("--mapping", refuse, "--files", rows);
    expect(ended.stderr).toMatch(
      /known\.csv:2, column 1 \(email\): there is a node with Person\.email "new@x\.example" already \(0x/,
    );
    expect(await ask('{ getPerson(email: "bob@x.example") { name } }')).toEqual({
      getPerson: { name: "Bob" },
    });
  });
});

describe("faulty rows", () => {
  const mapping =
    "type: Person\ncolumns:\n  email: email\n  name: name\n  shoe: shoe\n  status: status\n  country: { field: country, by: code }\n";
  const rows = [
    "email,name,shoe,status,country",
    "f1@x.example,F1,40,NEW,NO",
    "f2@x.example,F2,forty,NEW,NO",
    "f3@x.example,F3,40,OLD,NO",
    "f4@x.example,F4,40",
    "f5@x.example,,40,NEW,NO",
    "f6@x.example,F6,40,NEW,XX",
    "f7@x.example,F7,3000000000,KNOWN,NO",
    "f8@x.example,F8,41,KNOWN,NO",
  ].join("\n");

  test("--dry-run shows what would be written and what would not, and writes nothing", async () => {
    const files = put("faulty.csv", rows);
    const ended = await take(
      "--mapping",
      put("faulty.yaml", mapping),
      "--files",
      files,
      "--dry-run",
    );
    expect([ended.code, ended.stderr]).toEqual([1, ""]);
    expect(ended.stdout).toContain(`${files}:2 (row 1): made\n+ _:row1 <dgraph.type> "Person" .\n`);
    expect(ended.stdout).toContain(
      "8 rows: 2 nodes would be made, 0 updated; 6 rows would be refused\n",
    );
    expect(ended.stdout).toContain(
      `${files}:3, column 3 (shoe): shoe: "forty" is not a whole number (Int)\n`,
    );
    expect(ended.stdout).toContain(
      `${files}:4, column 4 (status): status: "OLD" is no Status (NEW, KNOWN)\n`,
    );
    expect(ended.stdout).toContain(`${files}:5: 3 columns, where the header has 5\n`);
    expect(await ask('{ getPerson(email: "f1@x.example") { name } }')).toEqual({ getPerson: null });
  });

  test("--on-error stop ends at the first, and goes on there; skip puts them aside, to be imported when corrected", async () => {
    const files = put("faulty.csv", rows);
    const path = put("faulty.yaml", mapping);
    const stopped = await take("--mapping", path, "--files", files);
    expect(stopped.stderr).toContain(`${files}:3, column 3 (shoe): `);
    expect(await ask('{ getPerson(email: "f1@x.example") { name } }')).toEqual({
      getPerson: { name: "F1" },
    });
    const skipped = await take("--mapping", path, "--files", files, "--on-error", "skip");
    expect([skipped.code, skipped.stderr]).toEqual([0, ""]);
    expect(skipped.stdout).toContain("1 row was imported before");
    expect(skipped.stdout).toContain("1 node made, 0 updated");
    const rejected = join(folder, "faulty.rejected.csv");
    expect(skipped.stdout).toContain(`6 rows were refused, see ${rejected}`);
    const lines = readFileSync(rejected, "utf8").trim().split("\n");
    expect(lines[0]).toBe("email,name,shoe,status,country,weft_place,weft_error");
    expect(lines.map((line) => line.split(",")[0])).toEqual([
      "email",
      "f2@x.example",
      "f3@x.example",
      "f4@x.example",
      "f5@x.example",
      "f6@x.example",
      "f7@x.example",
    ]);
    expect(lines[5]).toContain(`country: there is no Country with code ""XX""`);
    const corrected = put("corrected.csv", [lines[0], lines[1]?.replace("forty", "40")].join("\n"));
    const taken = await take("--mapping", path, "--files", corrected);
    expect([taken.stderr, taken.stdout]).toEqual(["", expect.stringContaining("1 node made")]);
  });
});

describe("rows without a key", () => {
  const mapping =
    "type: Reading\ncolumns: { sensor: sensor, value: value, at: { field: at, date: unix } }";
  const line = (i: number): string =>
    `{"sensor":"s${i % 7}","value":${i},"at":${1_700_000_000 + i}}`;
  const count = async (): Promise<unknown> => ask("{ aggregateReading { count valueSum } }");

  test("an import that is killed goes on, and makes none of them twice", async () => {
    const path = put("readings.yaml", mapping);
    const total = 6_000;
    const files = put(
      "readings.ndjson",
      Array.from({ length: total }, (_, i) => `${line(i)}\n`).join(""),
    );
    const args = [
      "import",
      "--to",
      server.url,
      "--mapping",
      path,
      "--files",
      files,
      "--batch",
      "100",
    ];
    for (const rows of [2_000]) {
      const one = spawn(process.execPath, [weft, ...args], { cwd: root, stdio: "ignore" });
      const ended = new Promise((done) => one.once("exit", done));
      const progress = `${path}.progress`;
      const timer = setInterval(() => {
        if (!existsSync(progress)) return;
        const { imports } = JSON.parse(readFileSync(progress, "utf8")) as {
          imports: Record<string, { rows: number }>;
        };
        if (Object.values(imports).some((one) => one.rows >= rows)) one.kill("SIGKILL");
      }, 1);
      await ended;
      clearInterval(timer);
    }
    const last = await runWeft(args);
    expect([last.code, last.stderr]).toEqual([0, ""]);
    expect(last.stdout).toMatch(/[\d,]+ rows were imported before/);
    const sum = (total * (total - 1)) / 2;
    expect(await count()).toEqual({ aggregateReading: { count: total, valueSum: sum } });
    // What is appended is new; rows that are others than those that were stored are told.
    writeFileSync(files, `{"sensor":"new","value":0}\n`, { flag: "a" });
    expect((await runWeft(args)).stdout).toContain(
      "6,000 rows were imported before\nweft: 1 node made",
    );
    writeFileSync(files, readFileSync(files, "utf8").replace('"value":0,', '"value":1,'));
    const other = await runWeft(args);
    expect(other.stderr).toContain("the first 6001 rows are not those that were imported before");
  }, 60_000);
});

test("links of requests side by side make each node once; standard input is read, packed or not", async () => {
  const mapping = put(
    "crowd.yaml",
    "type: Person\nformat: ndjson\ncolumns: { email: email, name: name, country: { field: country, missing: create }, boss: { field: boss, missing: create } }",
  );
  const rows = Array.from({ length: 600 }, (_, i) =>
    JSON.stringify({ email: `c${i}`, name: "C", country: `K${i % 3}`, boss: `c${(i * 7) % 600}` }),
  );
  const ended = spawnSync(
    process.execPath,
    [weft, "import", "--to", server.url, "--mapping", mapping, "--files", "-", "--batch", "20"],
    { cwd: root, input: gzipSync(rows.join("\n")) },
  );
  expect([ended.status, ended.stderr.toString()]).toEqual([0, ""]);
  const answer = await ask(
    '{ aggregatePerson(filter: { name: { eq: "C" } }) { count } queryCountry(filter: { code: { in: ["K0", "K1", "K2"] } }) { peopleAggregate { count } } getPerson(email: "c599") { boss { email boss { email } } } }',
  );
  expect(answer).toEqual({
    aggregatePerson: { count: 600 },
    queryCountry: Array.from({ length: 3 }, () => ({ peopleAggregate: { count: 200 } })),
    getPerson: { boss: { email: "c593", boss: { email: "c551" } } },
  });
});

describe("docs/moving.md", () => {
  const page = readFileSync(join(root, "docs", "moving.md"), "utf8");
  const section = page.slice(page.indexOf("## weft import"), page.indexOf("## weft bulk"));
  const blocks = [...section.matchAll(/```(\w+) ?(\S*)\n([^`]+)```/g)];

  /** How long it took is another each time. */
  const withoutTimes = (text: string): string => text.replaceAll(/ in [\d.]+ s \([\d,]+\/s\)/g, "");

  test("its commands print what it says", async () => {
    const other = await startServer({ dataDir: makeFolder(), flags: ["--workers", "1"] });
    const cwd = makeFolder();
    const command = join(cwd, "weft");
    symlinkSync(weft, command);
    const env = { ...process.env, PATH: `${cwd}:${process.env["PATH"]}`, WEFT_TO: other.url };
    const told: string[] = [];
    for (const [, language, name = "", text = ""] of blocks) {
      if (language === "graphql") await post(`${other.url}/admin/schema`, text);
      else if (language !== "console") writeFileSync(join(cwd, name), text);
      else {
        const [line = "", ...expected] = text.split("\n");
        const ended = spawnSync("sh", ["-c", `${line.slice(2)} 2>&1`], { cwd, env });
        told.push(line);
        expect(withoutTimes(ended.stdout.toString())).toBe(withoutTimes(expected.join("\n")));
      }
    }
    expect(told).toHaveLength(4);
  });
});
