// Goal: `weft certify` tells whether an engine keeps what the log asks of it, and leaves nothing behind.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { hasPostgres, startPostgresPair } from "../support/postgres.ts";
import { cleanUp, makeFolder, runWeft } from "./server.ts";

afterAll(cleanUp);

interface Report {
  readonly parts: readonly { readonly part: string; readonly fault: string | null }[];
  readonly load: { readonly acknowledged: number; readonly leaders: number };
}

test("a directory", async () => {
  const folder = join(makeFolder(), "log");
  const { code, stdout, stderr } = await runWeft([
    "certify",
    "--log",
    `dir:${folder}`,
    "--for",
    "1s",
  ]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("ok      gives a number once\n");
  expect(stdout).toMatch(/[\d,]+ writes acknowledged in 1 s under \d+ leaders?, /);
  expect(stdout).toMatch(/all 16 promises were kept\n$/);
  expect(readdirSync(folder)).toEqual([]);
});

test("what is no log, and what cannot be reached, take one line", async () => {
  const none = await runWeft(["certify", "--log", "redis://u:secret@host/0"]);
  expect([none.code, none.stdout]).toEqual([2, ""]);
  expect(none.stderr).toBe(
    "weft: warning: the password in --log shows in the list of processes; give it as @FILE, or in PGPASSWORD\n" +
      'weft: --log: "redis://u:…@host/0" is no log (as postgres://USER@HOST:5432/DATABASE or dir:/var/lib/weft-log)\n',
  );
  const away = await runWeft(["certify", "--log", "postgres://weft@127.0.0.1:1/none"]);
  expect(away.code).toBe(1);
  expect(away.stderr).toMatch(/^weft: the log's PostgreSQL cannot be used: .*127\.0\.0\.1:1\n$/);
  const file = join(makeFolder(), "file");
  writeFileSync(file, "");
  const blocked = await runWeft(["certify", "--log", `dir:${file}/log`]);
  expect(blocked.code).toBe(1);
  expect(blocked.stderr).toMatch(
    /^weft: the log at .*\/file\/log\/certify-[-\w]+ cannot be opened: /,
  );
});

describe.runIf(await hasPostgres())("PostgreSQL", () => {
  test("with a synchronous standby, and one that was told to go without", async () => {
    const pair = await startPostgresPair();
    try {
      const folder = makeFolder();
      mkdirSync(folder, { recursive: true });
      const file = join(folder, "url");
      writeFileSync(file, `${pair.primary.url}\n`);
      const sound = await runWeft(["certify", "--log", `@${file}`, "--for", "2s", "--json"]);
      expect([sound.code, sound.stderr]).toEqual([0, ""]);
      const report = JSON.parse(sound.stdout) as Report;
      expect(report.parts.map(({ fault }) => fault)).toEqual(Array(16).fill(null));
      expect(report.load.acknowledged).toBeGreaterThan(10);
      const left = await pair.primary.run("SELECT count(*) AS n FROM weft_log");
      expect(Number(left.rows[0]?.["n"])).toBe(0);

      await pair.primary.run("ALTER SYSTEM SET synchronous_standby_names TO ''");
      await pair.primary.run("SELECT pg_reload_conf()");
      const unsafe = await runWeft(["certify", "--log", pair.primary.url, "--for", "0s"]);
      expect([unsafe.code, unsafe.stdout]).toEqual([1, ""]);
      expect(unsafe.stderr).toMatch(/^weft: .* has no synchronous standby .*\n$/);
    } finally {
      await pair.close();
    }
  });
});
