/**
 * Makes docs/errors.md from the table of faults, so that each code has its cause and its remedy there and no entry is
 * left of a code that is gone. `npm run draw` puts the page in place.
 */
import type { FaultSpec } from "../src/model/fault-table.ts";

type FaultTable = Readonly<Record<string, FaultSpec>>;

const intro = `# Errors

Every request that ends because of its sender ends with one of these codes. The code is what the source, the tests and the comments call it; clients see its message and, over HTTP, \`extensions.code\`. To find a code, look for the words of the message in the list, or in \`src/\`.

An answer has status 200 where no other is named, as GraphQL clients expect and as the reference does. \`/graphql\` and \`/admin\` give the same messages with the field that failed in front. What is nobody's fault but the server's has no code: status 500, \`Internal error ID\`, and the same id in the log.

This page is made from the table in \`src/model/fault-table.ts\`.`;

/** The whole page, as the formatter would leave it. */
export function drawErrorsPage(table: FaultTable): string {
  const specs = Object.entries(table);
  const areas = [...new Set(specs.map(([, { area }]) => area))];
  const sections = areas.map((area) =>
    [`## ${area}`, ...specs.filter(([, spec]) => spec.area === area).map(drawEntry)].join("\n\n"),
  );
  return `${[intro, drawIndex(specs), ...sections].join("\n\n")}\n`;
}

function drawIndex(specs: readonly (readonly [string, FaultSpec])[]): string {
  const lines = specs
    .filter(([, { says }]) => says !== undefined)
    .map(([code, { says = "" }]) => `- \`${says.trim()}\`: [${code}](#${code.toLowerCase()})`);
  return ["## By message", lines.sort().join("\n")].join("\n\n");
}

function drawEntry([code, spec]: readonly [string, FaultSpec]): string {
  const told = spec.area === "Start" ? [] : [drawAnswer(spec)];
  const { cause, remedy } = spec;
  const lines = [`- **Cause:** ${linkPages(cause)}`, `- **Remedy:** ${linkPages(remedy)}`, ...told];
  return [`### ${code}`, lines.join("\n")].join("\n\n");
}

function drawAnswer({ extension, status, phase, isBeforeEngine = false }: FaultSpec): string {
  const parts = [`\`${extension}\``];
  if (status !== undefined) parts.push(`status ${status} with \`Retry-After\``);
  if (phase === "engine") parts.push("the native endpoints print `: ` before the message");
  if (isBeforeEngine) parts.push("no `data` member");
  return `- **Answer:** ${parts.join("; ")}`;
}

/** The page stands beside those that it names. */
function linkPages(text: string): string {
  return text.replaceAll(/\bdocs\/([a-z]+)\.md\b/g, "[$1]($1.md)");
}

const headingPattern = /^### (E_[A-Z_]+)$/gm;

/** One line per code without an entry on the page, without a cause or a remedy, and per entry without a code. */
export function findErrorsPageFaults(page: string, table: FaultTable): string[] {
  const entries = new Set([...page.matchAll(headingPattern)].map((match) => match[1] ?? ""));
  const faults: string[] = [];
  for (const [code, { cause, remedy }] of Object.entries(table)) {
    if (!entries.has(code)) faults.push(`${code} has no entry in docs/errors.md`);
    if (cause === "") faults.push(`${code} has no cause`);
    if (remedy === "") faults.push(`${code} has no remedy`);
    entries.delete(code);
  }
  for (const code of entries) faults.push(`docs/errors.md has an entry for ${code}, which is gone`);
  return faults;
}

/** One line per code that no file names, and per message of the table that no file has. `texts`: the source. */
export function findUnusedFaults(texts: readonly string[], table: FaultTable): string[] {
  const has = (piece: string): boolean => texts.some((text) => text.includes(piece));
  return Object.entries(table).flatMap(([code, { says }]) => {
    const faults = has(`"${code}"`) ? [] : [`nothing throws ${code}`];
    return says === undefined || has(says)
      ? faults
      : [...faults, `nothing says "${says}" (${code})`];
  });
}
