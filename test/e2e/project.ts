/** A project that has this package installed, as from npm: a copy of what is packed, and links to what it needs. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { makeFolder, root } from "./server.ts";

export const { name: packageName, dependencies } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
) as { readonly name: string; readonly dependencies: Readonly<Record<string, string>> };

/** `packages`: what it has besides, of those that are installed here. */
export function makeProject(packages: readonly string[] = []): string {
  const project = makeFolder();
  const modules = join(project, "node_modules");
  mkdirSync(join(modules, packageName), { recursive: true });
  // A copy: what a link leads to is no package to vitest, and is compiled anew.
  for (const one of ["package.json", "dist"]) {
    cpSync(join(root, one), join(modules, packageName, one), {
      recursive: true,
      filter: (file) => !file.endsWith(".map"),
    });
  }
  for (const one of [...Object.keys(dependencies), ...packages]) {
    symlinkSync(join(root, "node_modules", one), join(modules, one));
  }
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
  return project;
}

/** Runs Node in a project; fails with its output where it fails. */
export function runIn(project: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: project });
  expect(status, `${stdout.toString()}${stderr.toString()}`).toBe(0);
  return stdout.toString();
}
