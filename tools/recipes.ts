/** Reads the recipes of CONTRIBUTING.md, and applies their patches to a copy of the sources. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface Recipe {
  readonly title: string;
  /** The files that it says it touches, in its lists and its text. */
  readonly files: readonly string[];
  readonly patch: readonly FilePatch[];
}

interface FilePatch {
  readonly file: string;
  /** There was none before. */
  readonly isNew: boolean;
  readonly hunks: readonly Hunk[];
}

/** Lines that are there, and those that take their place. */
interface Hunk {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** The parts of the page below `## Recipes`, by their headings. */
export function readRecipes(page: string): readonly Recipe[] {
  const [, recipes = ""] = page.split("\n## Recipes\n");
  return recipes
    .split("\n### ")
    .slice(1)
    .map((part) => {
      const [title = "", ...lines] = part.split("\n");
      const from = lines.indexOf("```diff");
      const to = lines.indexOf("```", from);
      const prose = [...lines.slice(0, from), ...lines.slice(to + 1)].join("\n");
      const files = [...prose.matchAll(/`((?:src|test|docs|tools)\/[\w./-]+\.\w+)`/g)];
      return {
        title,
        files: [...new Set(files.map(([, file = ""]) => file))].sort(),
        patch: from < 0 ? [] : readPatch(lines.slice(from + 1, to)),
      };
    });
}

function readPatch(lines: readonly string[]): FilePatch[] {
  const files: { file: string; isNew: boolean; hunks: { before: string[]; after: string[] }[] }[] =
    [];
  let isNew = false;
  for (const line of lines) {
    const file = files.at(-1);
    const hunk = file?.hunks.at(-1);
    if (line.startsWith("--- ")) isNew = line === "--- /dev/null";
    else if (line.startsWith("+++ ")) files.push({ file: line.slice(4), isNew, hunks: [] });
    else if (line.startsWith("@@")) file?.hunks.push({ before: [], after: [] });
    else {
      const text = line.slice(1);
      if (!line.startsWith("+")) hunk?.before.push(text);
      if (!line.startsWith("-")) hunk?.after.push(text);
    }
  }
  return files;
}

/** Changes the files below `root`. Throws Error where the lines of a hunk are not there, or are there twice. */
export function applyPatch(root: string, patch: Recipe["patch"]): void {
  for (const { file, isNew, hunks } of patch) {
    const path = join(root, file);
    if (isNew) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, hunks.flatMap(({ after }) => [...after, ""]).join("\n"));
      continue;
    }
    let text = `\n${readFileSync(path, "utf8")}`;
    for (const { before, after } of hunks) {
      const old = `\n${before.join("\n")}\n`;
      const at = text.indexOf(old);
      if (at < 0) throw new Error(`${file} has not the lines that the patch changes:${old}`);
      if (text.includes(old, at + 1)) throw new Error(`${file} has these lines twice:${old}`);
      text = `${text.slice(0, at)}\n${after.join("\n")}\n${text.slice(at + old.length)}`;
    }
    writeFileSync(path, text.slice(1));
  }
}
