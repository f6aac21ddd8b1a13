// Goal: a server that others reach asks for credentials, or somebody has said that it should not; and it says where it
// listens.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parseAddress } from "../../src/cli/address.ts";
import { checkOpenAddress, parseSecurity } from "../../src/cli/security-config.ts";
import { findFreePort } from "../support/free-port.ts";
import { cleanUp, makeFolder, post, rdf, runWeft, startServer, weft } from "./server.ts";

afterAll(cleanUp);

const check = (http: string, flag?: string, setting = "", usersLogIn = false): void =>
  checkOpenAddress(parseAddress(http), parseSecurity(setting, flag), usersLogIn);

describe("an address that others reach", () => {
  const addresses = ["0.0.0.0:8080", ":8080", "[::]:8080", "192.168.1.5:80", "db.example:8080"];
  test.each(addresses)("%s", (http) => {
    const words = /can be reached by others.*--anonymous off.*--acl.*--anonymous on/;
    expect(() => check(http)).toThrow(words);
    expect(() => check(http, undefined, "token=x; whitelist=10.0.0.0/8")).toThrow(words);
    for (const word of ["on", "off"]) {
      check(http, word);
      check(http, undefined, `anonymous=${word}`);
    }
    check(http, undefined, "", true);
  });

  test.each(["127.0.0.1:8080", "localhost:8080", "[::1]:8080"])("not %s", (http) => {
    expect(() => check(http)).not.toThrow();
  });

  test("ends the start with one line", async () => {
    const ended = await runWeft(["serve", "--data", makeFolder(), "--http", "0.0.0.0:0"]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/^weft: --http 0\.0\.0\.0:0 can be reached by others.*\n$/);
  });
});

test("what is printed is what was bound; the commands to paste reach it", async () => {
  const port = await findFreePort();
  const args = ["serve", "--data", makeFolder(), "--workers", "1", "--no-sample"];
  const one = spawn(process.execPath, [weft, ...args, "--http", `:${port}`, "--anonymous", "on"]);
  let text = "";
  one.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  one.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  try {
    await expect.poll(() => text, { timeout: 30_000 }).toContain("/mutate?commitNow=true");
    expect(text).toContain(`on http://0.0.0.0:${port}, every address of this machine`);
    expect(text).toContain(`may use its data without a key`);
    const url = /'(?<url>http:\/\/127[^/]+)\/mutate/.exec(text)?.groups?.["url"] ?? "";
    const told = await post(`${url}/mutate?commitNow=true`, '{ set { _:a <x> "y" . } }', rdf);
    expect(told.status).toBe(200);
  } finally {
    one.kill("SIGTERM");
    await new Promise((resolve) => one.once("exit", resolve));
  }
});

test.skipIf(process.platform === "win32")(
  "a store is closed to others of the machine",
  async () => {
    const dataDir = join(makeFolder(), "data");
    mkdirSync(dataDir);
    chmodSync(dataDir, 0o777);
    const flags = ["--workers", "1", "--no-sample"];
    const openNames = (): string[] =>
      readdirSync(dataDir).filter((name) => (statSync(join(dataDir, name)).mode & 0o077) !== 0);
    const first = await startServer({ dataDir, flags });
    expect(openNames()).toEqual([]);
    expect(first.output()).toContain(`others of this machine may exchange files of ${dataDir}`);
    await first.stop();
    for (const name of ["data.mdb", "weft.store"]) chmodSync(join(dataDir, name), 0o644);
    chmodSync(dataDir, 0o755);
    const second = await startServer({ dataDir, flags });
    expect(openNames()).toEqual([]);
    expect(second.output()).toContain(`weft.store, data.mdb in ${dataDir} could be used by others`);
    expect(second.output()).not.toContain("may exchange");
  },
);
