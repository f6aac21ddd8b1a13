// Goal: every record is in some file, whole and once, whoever wrote it and whenever the file was put aside; what could
// not be written is told.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { parseAudit } from "./audit-config.ts";
import { type AuditFile, openAuditFile } from "./audit-file.ts";

let folder = "";
const opened: AuditFile[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weft-audit-"));
});
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
  rmSync(folder, { recursive: true });
});

function open(settings = "", name = "audit.log"): AuditFile {
  const config = parseAudit(`file=${join(folder, name)}; ${settings}`)!;
  const file = openAuditFile(config, silentLogger, systemClock);
  opened.push(file);
  return file;
}

const read = (name: string) => readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1);

test("files are put aside when they are full, and the oldest goes", () => {
  const file = open("max-size=1KB; max-files=2");
  for (let i = 0; i < 50; i++) {
    file.write(JSON.stringify({ i, text: "x".repeat(100) }));
    file.flush();
  }
  expect(readdirSync(folder).sort()).toEqual(["audit.log", "audit.log.1", "audit.log.2"]);
  const numbers = ["audit.log.2", "audit.log.1", "audit.log"].flatMap((name) =>
    read(name).map((line) => (JSON.parse(line) as { i: number }).i),
  );
  expect(numbers).toEqual(
    Array.from({ length: numbers.length }, (_, i) => 50 - numbers.length + i),
  );
  expect(statSync(join(folder, "audit.log")).mode & 0o777).toBe(0o600);
});

test("several writers lose nothing, and mix no lines", () => {
  const files = Array.from({ length: 4 }, () => open("max-size=2KB; max-files=1000"));
  for (let i = 0; i < 400; i++) {
    const file = files[i % 4]!;
    file.write(JSON.stringify({ i, text: "x".repeat(60) }));
    if (i % 3 === 0) file.flush();
  }
  for (const file of files) file.flush();
  const numbers = readdirSync(folder).flatMap((name) =>
    read(name).map((line) => (JSON.parse(line) as { i: number }).i),
  );
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 400 }, (_, i) => i));
});

test("a file that somebody takes away is begun anew", () => {
  const file = open();
  file.write("{}");
  file.flush();
  rmSync(join(folder, "audit.log"));
  file.write('{"a":1}');
  file.flush();
  expect(read("audit.log")).toEqual(['{"a":1}']);
});

test("what cannot be written is a fault until it can, and is counted", () => {
  const file = open();
  rmSync(join(folder, "audit.log"));
  mkdirSync(join(folder, "audit.log"));
  for (let i = 0; i < 3; i++) {
    file.write("{}");
    file.flush();
  }
  expect(file.fault).toMatch(/^audit records cannot be written \(E\w+\)$/);
  rmSync(join(folder, "audit.log"), { recursive: true });
  file.write('{"a":1}');
  file.flush();
  expect(file.fault).toBeUndefined();
  expect(read("audit.log").map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ kind: "lost", records: 3 }),
    { a: 1 },
  ]);
});

test("a lock that a dead process left is taken away", () => {
  const file = open("max-size=1KB");
  const lock = join(folder, "audit.log.lock");
  writeFileSync(lock, "");
  for (let i = 0; i < 30; i++) {
    file.write("x".repeat(100));
    file.flush();
  }
  expect(readdirSync(folder)).not.toContain("audit.log.1");
  const before = new Date(Date.now() - 60_000);
  utimesSync(lock, before, before);
  for (let i = 0; i < 2; i++) {
    file.write("{}");
    file.flush();
  }
  expect(readdirSync(folder).sort()).toEqual(["audit.log", "audit.log.1"]);
});

test.each([
  ["file=", /name a file/],
  ["max-files=3", /name a file/],
  ["file=x; size=3", /unknown key "size"/],
  ["file=x; max-size=1", /at least 1KB/],
  ["file=x; max-files=0", /1 to 1000/],
  ["file=x; on-failure=cry", /continue or refuse/],
])("--audit %j", (text, words) => expect(() => parseAudit(text)).toThrow(words));

test("a bare name is a file, nothing is none, and a directory that is not there ends the start", () => {
  expect(parseAudit("")).toBeUndefined();
  expect(parseAudit("/var/log/audit.log")).toMatchObject({
    file: "/var/log/audit.log",
    filesMax: 10,
  });
  expect(() => open("", "nowhere/audit.log")).toThrow(/--audit: .* cannot be written \(ENOENT\)/);
});
