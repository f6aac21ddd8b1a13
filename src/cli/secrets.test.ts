import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command, Option } from "commander";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeShown, resolveSecrets } from "./secrets.ts";

let folder: string;
let file: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weft-secrets-"));
  file = join(folder, "secret");
  writeFileSync(file, "s3cret with = in it\n");
  writeFileSync(join(folder, "empty"), "\n");
  writeFileSync(join(folder, "two"), "a;b");
});

afterAll(() => rmSync(folder, { recursive: true }));

function run(args: readonly string[]): { options: Record<string, unknown>; shown: string } {
  const command = new Command("test").exitOverride();
  for (const flags of ["--key <k>", "--access-token <t>", "--security <s>", "--creds <c>"]) {
    command.addOption(new Option(flags));
  }
  command.addOption(new Option("--token <t>").default("from elsewhere"));
  command.parse(args, { from: "user" });
  const shown = resolveSecrets(command);
  return { options: command.opts(), shown: shown.join(" ") };
}

test("a secret in a flag is taken, and spoken of without being told", () => {
  const { options, shown } = run(["--key", "k1", "--security", "whitelist=a; token=t1"]);
  expect(options).toMatchObject({ key: "k1", security: "whitelist=a; token=t1" });
  expect(shown).toBe("--key --security");
  expect(describeShown(["--access-token"])).toBe(
    "warning: the secret in --access-token shows in the list of processes; give it as @FILE, or in WEFT_ACCESS_TOKEN",
  );
});

test("one in a file is read, without the end of its line, and not spoken of", () => {
  const { options, shown } = run([
    "--access-token",
    `@${file}`,
    "--creds",
    `user=groot; Password=@${file}; namespace=2`,
  ]);
  expect(options["accessToken"]).toBe("s3cret with = in it");
  expect(options["creds"]).toBe("user=groot;password=s3cret with = in it; namespace=2");
  expect(shown).toBe("");
});

test("flags without a secret, and secrets from elsewhere, are not spoken of", () => {
  expect(run(["--security", "whitelist=10.0.0.0/8; token="]).shown).toBe("");
  expect(run([]).shown).toBe("");
});

test("files that cannot be used, in one line", () => {
  expect(() => run(["--key", "@/nowhere/secret"])).toThrow("--key: /nowhere/secret cannot be read");
  expect(() => run(["--key", `@${join(folder, "empty")}`])).toThrow("is empty");
  expect(() => run(["--security", `token=@${join(folder, "two")}`])).toThrow(
    '--security token: what the file holds must have no ";" in it',
  );
});
