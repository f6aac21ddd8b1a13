// Goal: a mapping that does not fit is told with its place, and each kind of value is read strictly, from tables and objects.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { compileSchema } from "../graphql/service/schema-compile.ts";
import { draftMapping } from "./draft.ts";
import { makeDateReader } from "./date-form.ts";
import { readMapping } from "./mapping.ts";
import { readRow } from "./read-row.ts";
import { findRowFiles } from "./row-files.ts";
import { planRows } from "./row-plan.ts";
import { readInputRows } from "./rows.ts";

const schema = compileSchema(`
enum Status { NEW KNOWN }
interface Named { name: String! }
type City { code: String! @id  name: String! }
type Tag { word: String! @id }
type Person implements Named @secret(field: "pwd") {
  id: ID!
  email: String! @id
  born: DateTime
  height: Float
  shoe: Int
  number: Int64
  active: Boolean
  status: Status
  nicks: [String]
  at: Point
  taste: [Float!] @embedding
  city: City
  tags: [Tag]
  other: Named
  shout: String @lambda
}`);

const folder = mkdtempSync(join(tmpdir(), "weft-import-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, name.endsWith(".gz") ? gzipSync(text) : text);
  return file;
}

const plan = (text: string): ReturnType<typeof planRows> =>
  planRows(readMapping(text, "m.yaml"), schema);

/** What the rows of a file say: field → texts; or where and why they are refused. */
async function readAll(name: string, mapping: string, content: string): Promise<unknown[]> {
  const planned = plan(mapping);
  const files = findRowFiles([put(name, content)], planned.mapping.format);
  const { separator, header } = planned.mapping;
  const all: unknown[] = [];
  for await (const row of readInputRows({ files, separator, header, onRead: () => {} })) {
    const read = readRow(planned, row, all.length);
    if ("reason" in read) all.push(`${read.place.slice(folder.length + 1)}: ${read.reason}`);
    else {
      const values = read.values.map(({ column, texts }) => [column.field, ...texts]);
      all.push([...values, ...read.links.map((one) => [one.column.field, ...one.values])]);
    }
  }
  return all;
}

describe("a mapping", () => {
  test.each([
    [
      "type: Person\ncolumns:\n  a: emial",
      "m.yaml:3:3: Person.emial: there is no such field (fields: name, ",
    ],
    [
      "type: Person\ncolumns: {a: id}",
      "m.yaml:2:11: Person.id: nodes get their ids from the server",
    ],
    ["type: Person\ncolumns: {a: shout}", "Person.shout: the field is computed"],
    ["type: Person\ncolumns: {a: email, b: email}", "two columns for the field email"],
    ["type: Person\ncolumns: {a: {field: email, by: x}}", '"by" and "missing" are for links'],
    ["type: Person\ncolumns: {a: {field: email, separator: x}}", '"separator" is for lists'],
    [
      "type: Person\ncolumns: {a: {field: city, by: name}}",
      'say by which @id field of City: "by: …" (code)',
    ],
    [
      "type: Person\ncolumns: {a: {field: city, missing: create}}",
      '"missing: create" would make a City without name',
    ],
    ["type: Person\ncolumns: {a: other}", "Named has no @id field"],
    ["type: Person\ncolumns: {a: {field: born, date: DD.MM}}", 'the date "DD.MM" is not a form'],
    ["type: Preson\ncolumns: {}", "the schema has no such type (types: City, Tag, Person)"],
    ["type: Named\ncolumns: {}", "it is an interface"],
    [
      "type: Person\nexisting: maybe\ncolumns: {}",
      'm.yaml:2:1: "existing" wants one of "update", "keep", "refuse"',
    ],
    ["type: Person\nmode: x\ncolumns: {}", 'm.yaml:2:1: "mode" is not known here (known: '],
    [
      "type: Person\ncolumns: {a: {field: email, form: x}}",
      '"form" is not known here (known: field, by,',
    ],
    ["type: Person\ncolumns: {a: [email]}", 'a wants a field\'s name, "skip", or a mapping'],
    ["type: Person", 'm.yaml:1:1: the mapping has no "columns"'],
    ["columns: {}", 'm.yaml:1:1: "type" is missing'],
    ["- a", "a mapping begins with"],
    ["type: [", "m.yaml:1:8: "],
  ])("%j is refused", (text, message) => expect(() => plan(text)).toThrow(message));

  test("JSON is one too", () => {
    const text = JSON.stringify({
      type: "Person",
      columns: { a: "email", b: { field: "city", by: "code" } },
    });
    expect(plan(text).columns.map((one) => [one.kind, one.field])).toEqual([
      ["value", "email"],
      ["link", "city"],
    ]);
  });
});

describe("rows", () => {
  test("of a table, with line feeds and quotes, constants, and without a header", async () => {
    const mapping =
      "type: Person\nheader: [m, t, s, x]\nseparator: ;\nnull: ['', '\\N']\ncolumns: {m: email, t: {field: tags, separator: '|'}, s: shoe, x: skip}\nconstants: {status: NEW, city: {value: OSL, by: code}}";
    const text = 'a;"x| y";41;\r\n"b\n""b""";\\N; 42 ;z\r\n\r\nc;;4x;\nd;;\n';
    expect(await readAll("plain.csv", mapping, text)).toEqual([
      [
        ["email", "a"],
        ["shoe", "41"],
        ["status", "NEW"],
        ["tags", "x", "y"],
        ["city", "OSL"],
      ],
      [
        ["email", 'b\n"b"'],
        ["shoe", "42"],
        ["status", "NEW"],
        ["city", "OSL"],
      ],
      'plain.csv:5, column 3 (s): shoe: "4x" is not a whole number (Int)',
      "plain.csv:6: 3 columns, where the header has 4",
    ]);
  });

  test("of TSV quotes are characters", async () => {
    const mapping = "type: Person\ncolumns: {m: email, n: name}";
    expect(await readAll("plain.tsv.gz", mapping, 'm\tn\na\t"b\n')).toEqual([
      [
        ["email", "a"],
        ["name", '"b'],
      ],
    ]);
  });

  test("of objects, with members of members, and numbers whose digits are kept or refused", async () => {
    const mapping =
      "type: Person\ncolumns: {mail: email, address.city: city, tags.word: tags, n: number, at: at, v: taste, names: nicks}";
    const one = {
      mail: "a",
      address: { city: "OSL" },
      tags: [{ word: "x" }, { word: "y" }],
      n: "9007199254740993",
      at: { longitude: 10.5, latitude: 59 },
      v: [1, 0.5],
      names: ["n1", null, "n2"],
    };
    const text = `[${JSON.stringify(one)},\n {"mail": "b",\n  "n": 9007199254740993},\n{"mail": {"x": 1}}]`;
    expect(await readAll("plain.json", mapping, text)).toEqual([
      [
        ["email", "a"],
        ["number", "9007199254740993"],
        ["at", '{"type":"Point","coordinates":[10.5,59]}'],
        ["taste", "[1,0.5]"],
        ["nicks", "n1", "n2"],
        ["city", "OSL"],
        ["tags", "x", "y"],
      ],
      "plain.json:3:23 (n): number: 9007199254740992 has more digits than JSON's numbers keep: write it as a text",
      'plain.json:4:10 (mail): email: "{\\"x\\":1}" is not one value',
    ]);
  });

  test("a broken line of NDJSON is one faulty row", async () => {
    const text = '{"m":"a"}\n{"m":\n\n[1]\n{}\n{"m":"b"}';
    const read = await readAll("plain.ndjson", "type: Person\ncolumns: {m: email}", text);
    expect(read).toEqual([
      [["email", "a"]],
      expect.stringContaining("plain.ndjson:2: not JSON: "),
      "plain.ndjson:4: not an object",
      "plain.ndjson:5: no column of the row has a value",
      [["email", "b"]],
    ]);
  });

  test.each([
    ["height", "1,5", "is not a number"],
    ["shoe", "3000000000", "is out of the range of Int"],
    ["number", "9223372036854775808", "is out of the range of Int64"],
    ["active", "yes", "is neither true nor false"],
    ["status", "OLD", "is no Status (NEW, KNOWN)"],
    ["born", "2020-02-30", "is not a date of the form 2006-01-02T15:04:05Z"],
    ["at", "10 20", 'is not GeoJSON (or say "geo: lat,lon")'],
    ["taste", "a,b", "a list of numbers is wanted"],
    ["pwd", "short", "Password too short"],
  ])("%s takes no %j", async (field, value, message) => {
    const [read] = await readAll(
      "one.tsv",
      `type: Person\ncolumns: {v: ${field}}`,
      `v\n${value}\n`,
    );
    expect(read).toContain(message);
  });

  test("a quote without end is told with its line", async () => {
    const read = readAll("open.csv", "type: Person\ncolumns: {m: email}", 'm\na\n"b\nc\n');
    await expect(read).rejects.toThrow(/open\.csv:\d+: /);
  });
});

describe("a draft", () => {
  const draft = async (name: string, content: string, type = "Person"): Promise<string> =>
    (
      await draftMapping({
        files: findRowFiles([put(name, content)], undefined),
        type,
        schema,
        separator: undefined,
      })
    )
      .split("\n")
      .slice(1)
      .join("\n");

  test("finds fields whatever the case, semicolons, dates, lists and links", async () => {
    const rows =
      "E-Mail;BORN;Person Shoe;tag;city;at;extra\na;1.2.2003;41;x|y;OSL;1,2;\nb;11.12.2003;42;z|w;;;7\n";
    expect(await draft("draft.csv", rows)).toBe(`type: Person
separator: ;
columns:
  E-Mail: email # @id: a row whose email is there already updates it
  BORN: { field: born, date: D.M.YYYY }
  Person Shoe: shoe
  tag: skip # no field of Person has this name; it holds String
  city: { field: city, by: code, missing: require } # a link to City; "missing: create" makes those that are not there
  at: { field: at, geo: "lat,lon" }
  extra: skip # no field of Person has this name; it holds Int
# Fields that no column fills: name: String!, height: Float, number: Int64, active: Boolean, status: Status, nicks: [String], taste: [Float!], tags: [Tag], other: Named
`);
  });

  test.each([
    ["semicolons in quotes", '"email";"nicks"\n"a";"x;y"\n', "separator: ;\n"],
    ["tabs", '"e\tmail"\tborn\n\'a\t1999-01-01\n', 'separator: "\\t"\n'],
    ["bars, and a quoted end of line", 'email|"bo\nrn"|shoe\na|b|1\n', 'separator: "|"\n'],
    ["commas among semicolons in quotes", 'email,"a;b;c;d",shoe\na,b,1\n', ""],
    ["one column", "email\na\n", ""],
  ])("finds the separator: %s", async (name, rows, line) => {
    const text = await draft(`separator ${name}.csv`, rows);
    expect(text.split("columns:")[0]).toBe(`type: Person\n${line}`);
    const gzip = await draft(`separator ${name}.csv.gz`, rows);
    expect(gzip).toBe(text);
  });

  test("names the words of yes and no, and the comma of numbers", async () => {
    const rows = "email;active;height;number\na;Ja;1,75;1\nb;Nein;2;2\nc;;1,8;3\n";
    const text = await draft("words.csv", rows);
    expect(text.split("columns:")[0]).toBe(
      'type: Person\nseparator: ;\ndecimal: ","\nbooleans: { true: [ Ja ], false: [ Nein ] }\n',
    );
    const named = text.replace("columns:\n", 'constants: { name: "N" }\ncolumns:\n');
    expect(await readAll("words-drafted.csv", named, rows)).toMatchObject([
      [
        ["email", "a"],
        ["active", "true"],
        ["height", "1.75"],
        ["number", "1"],
        ["name", "N"],
      ],
      [
        ["email", "b"],
        ["active", "false"],
        ["height", "2"],
        ["number", "2"],
        ["name", "N"],
      ],
      [
        ["email", "c"],
        ["height", "1.8"],
        ["number", "3"],
        ["name", "N"],
      ],
    ]);
    expect(await draft("words-only.csv", "a,b\nYES,1\nyes,0\n", "Thing")).toContain(
      "booleans: { true: [ YES, yes ], false: [ no ] }\n",
    );
  });

  test("of objects names members of members; without a type it proposes one", async () => {
    const text =
      '{"id":"k1","name":{"first":"A"},"n":5,"when":"2020-01-01","tags":["a"]}\n{"id":"k2","n":9000000000}';
    expect(await draft("draft.ndjson", text, "Thing"))
      .toBe(`# The schema has no type Thing. One that fits the file:
# type Thing {
#   id: String! @id
#   nameFirst: String
#   n: Int64
#   when: DateTime
#   tags: [String]
# }
type: Thing
columns:
  id: id
  name.first: nameFirst
  n: n
  when: when
  tags: tags
`);
  });
});

test.each([
  ["DD.MM.YYYY", "31.12.1999", "1999-12-31T00:00:00Z"],
  ["DD.MM.YYYY", "31.11.1999", undefined],
  ["DD.MM.YYYY", "1.1.1999", undefined],
  ["D.M.YY H:mm", "1.2.03 9:30", "2003-02-01T09:30:00Z"],
  ["D MMM YYYY", "3 Feb 2020", "2020-02-03T00:00:00Z"],
  ["YYYY-MM-DD HH:mm:ss.S Z", "2020-01-02 03:04:05.25 +02:00", "2020-01-02T03:04:05.25+02:00"],
  ["MM/DD/YYYY", "13/01/2020", undefined],
  ["YYYYMMDD", "20200229", "2020-02-29T00:00:00Z"],
  ["unix", "1600000000.5", "2020-09-13T12:26:40.5Z"],
  ["unix-ms", "-1", "1969-12-31T23:59:59.999Z"],
  ["iso", "2020", "2020-01-01T00:00:00Z"],
  ["iso", "soon", undefined],
])("the form %s reads %s as %s", (form, text, time) =>
  expect(makeDateReader(form, "")(text)).toBe(time),
);
