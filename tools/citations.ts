/**
 * Citations of the reference (`docs/reference`): `reference/dql 4.3.5`, a page and a heading's number, or several
 * numbers of it, `reference/dql 4.7 – 4.12, 4.18`. Checked as text, in comments and in names of tests alike.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

// The end of a sentence may follow a number. A list may go on in the next line of a comment.
const number = String.raw`\d+(?:\.\d+)*`;
const gap = String.raw`(?:\s|\n\s*(?:\*|\/\/))+`;
const joint = String.raw`(?:,| –|–| and)${gap}?`;
const citationPattern = new RegExp(
  String.raw`\breference/(?<page>[a-z]+)${gap}(?<numbers>${number}(?:${joint}${number})*)`,
  "g",
);

/** Citations of texts that are not in the repository. */
const strangerPatterns: readonly RegExp[] = [
  /\b(?:dql|graphql|graphql-generated|graphql-messages|distributed|fleet|peers|corrections|style)\.md\b/,
  /\b(?:architecture|distributed|fleet|peers|corrections|seed|Msg|Appendix),? (?:§ ?)?(?:\d+|[A-E]\.\d+)(?:\.\d+)*(?=[\s:;,.)"]|$)/,
];

/** One line for each citation that leads nowhere, or to what is not in the repository. */
export function findCitationFaults(folders: readonly string[], pagesFolder: string): string[] {
  const pages = readPages(pagesFolder);
  return folders.flatMap((folder) =>
    listTexts(folder).flatMap((file) =>
      findFaultsIn(readFileSync(file, "utf8"), pages).map((fault) => `${file}: ${fault}`),
    ),
  );
}

/** Every citation of the folders, for a count. */
export function countCitations(folders: readonly string[]): number {
  let count = 0;
  for (const file of folders.flatMap(listTexts)) {
    for (const match of readFileSync(file, "utf8").matchAll(citationPattern)) {
      count += numbersOf(match).length;
    }
  }
  return count;
}

type Pages = ReadonlyMap<string, ReadonlySet<string>>;

/** Page → the numbers of its headings. */
function readPages(folder: string): Pages {
  const pages = new Map<string, ReadonlySet<string>>();
  for (const name of readdirSync(folder)) {
    if (!name.endsWith(".md")) continue;
    const headings = readFileSync(join(folder, name), "utf8").matchAll(/^#+ (\d+(?:\.\d+)*)\.? /gm);
    pages.set(name.slice(0, -3), new Set(Array.from(headings, ([, found]) => found ?? "")));
  }
  return pages;
}

function findFaultsIn(text: string, pages: Pages): string[] {
  const faults: string[] = [];
  for (const match of text.matchAll(citationPattern)) {
    const page = match.groups?.["page"] ?? "";
    const headings = pages.get(page);
    if (headings === undefined) faults.push(`there is no reference/${page}`);
    else {
      for (const cited of numbersOf(match)) {
        if (!headings.has(cited)) faults.push(`reference/${page} has no ${cited}`);
      }
    }
  }
  for (const pattern of strangerPatterns) {
    // Pages for users have their names from their topics.
    const stranger = pattern.exec(text.replaceAll(/\b(?:docs|reference)\/[\w./-]*\.md\b/g, ""));
    if (stranger !== null) faults.push(`cites "${stranger[0]}"`);
  }
  return faults;
}

function numbersOf(match: RegExpExecArray): string[] {
  return match.groups?.["numbers"]?.match(new RegExp(number, "g")) ?? [];
}

function listTexts(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:ts|mjs|js)$/.test(name) && !/citations(?:\.test)?\.ts$/.test(name))
    .map((name) => join(folder, name))
    .sort();
}
