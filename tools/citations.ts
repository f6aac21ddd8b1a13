/**
 * Citations of the reference (`docs/reference`): `reference/dql 4.3.5`, a page and a heading's number, or several
 * numbers of it, `reference/dql 4.7 – 4.12, 4.18`; behind the last one perhaps a row of its table or list, `rule 8`,
 * `step 2`. Checked as text, in comments and in names of tests alike.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

// The end of a sentence may follow a number. A list may go on in the next line of a comment.
const number = String.raw`\d+(?:\.\d+)*`;
const gap = String.raw`(?:\s|\n\s*(?:\*|\/\/))+`;
const joint = String.raw`(?:,| –|–| and)${gap}?`;
const citationPattern = new RegExp(
  String.raw`\breference/(?<page>[a-z]+)${gap}(?<numbers>${number}(?:${joint}${number})*)` +
    String.raw`(?:${gap}(?:rule|step)s?${gap}(?<rows>\d+(?: and \d+)*))?`,
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

/** Page → the number of each heading → the numbers of the rows and items that stand under it. */
type Pages = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

function readPages(folder: string): Pages {
  const pages = new Map<string, ReadonlyMap<string, ReadonlySet<string>>>();
  for (const name of readdirSync(folder)) {
    if (!name.endsWith(".md")) continue;
    const headings = new Map<string, Set<string>>();
    let rows = new Set<string>();
    for (const line of readFileSync(join(folder, name), "utf8").split("\n")) {
      const heading = /^#+ (\d+(?:\.\d+)*)\.? /.exec(line)?.[1];
      if (heading !== undefined) headings.set(heading, (rows = new Set()));
      const row = /^(?:\| )?(\d+)(?:\.| +\|) /.exec(line)?.[1];
      if (row !== undefined) rows.add(row);
    }
    pages.set(name.slice(0, -3), headings);
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
      const cited = numbersOf(match);
      for (const heading of cited) {
        if (!headings.has(heading)) faults.push(`reference/${page} has no ${heading}`);
      }
      const last = cited.at(-1) ?? "";
      for (const row of match.groups?.["rows"]?.match(/\d+/g) ?? []) {
        const isThere = headings.get(last)?.has(row) ?? true;
        if (!isThere) faults.push(`reference/${page} ${last} has no ${row}`);
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
