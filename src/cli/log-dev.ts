/** A line of the log for who writes schemas and resolvers: what a script prints, and why something went wrong. */
import { printSource } from "./code-frame.ts";
import { printLine, withoutControls } from "./log-text.ts";

interface ScriptEntry {
  readonly at?: string;
  readonly line?: string | number;
  readonly fault?: string;
  readonly file?: string;
  readonly column?: number;
  readonly source?: string;
}

interface SlowEntry {
  readonly operation: string;
  readonly ms: number;
  readonly work: number;
  readonly text?: string;
  readonly plan?: string;
  readonly spans?: readonly string[];
}

interface RefusalEntry {
  readonly type: string;
  readonly operation: string;
  readonly rule?: string;
  readonly line?: number;
  readonly why: string;
}

/** `json`: one entry as the log writes it for machines. */
export function printDevLine(json: string): string {
  const entry = JSON.parse(json) as { readonly msg: string };
  switch (entry.msg) {
    case "script":
      return withoutControls(printScript(entry as ScriptEntry));
    case "slow request": {
      const slow = entry as unknown as SlowEntry;
      // What sets schemas takes its time; who waits for it sees that.
      return slow.operation === "admin" ? "" : withoutControls(printSlow(slow));
    }
    case "a rule refuses":
      return withoutControls(printRefusal(entry as unknown as RefusalEntry));
    case "a request is refused":
      return withoutControls(`${(entry as unknown as RefusalEntry).why}\n`);
    default:
      // When, and of which process, says nothing to who looks on.
      return printLine(json)
        .replace(/^\S+ (?<level>\w+) +[^:]+: /, "$<level>: ")
        .replace(" namespace=0\n", "\n");
  }
}

function printScript({ at, line, fault, file, column, source }: ScriptEntry): string {
  if (fault === undefined) return `${at === undefined ? "" : `${at}  `}${line ?? ""}\n`;
  if (file === undefined || typeof line !== "number" || column === undefined) return `${fault}\n`;
  const [first = "", ...trace] = fault.split("\n");
  const frame = printSource({ line, column }, source);
  const below = trace.length === 0 ? "" : `${trace.join("\n")}\n`;
  return `${file}:${line}:${column}: ${first}\n${frame}${below}`;
}

function printSlow({ operation, ms, work, text, plan, spans = [] }: SlowEntry): string {
  const parts = [
    `slow: ${operation} took ${ms} ms, ${work} units of work`,
    ...indented(text),
    ...spans.map((span) => `  ${span}`),
    ...indented(plan),
    ...(plan === undefined || plan === ""
      ? []
      : ["  weft explain FILE --profile tells what each step costs"]),
  ];
  return `${parts.join("\n")}\n`;
}

function printRefusal({ type, operation, rule, line, why }: RefusalEntry): string {
  if (type === "") return `@auth: the token is not believed: ${why}\n`;
  const head = `@auth: ${operation} of ${type} is refused: ${why}\n`;
  return rule === undefined ? head : `${head}  line ${line ?? 0} of the schema: ${rule}\n`;
}

function indented(text: string | undefined): readonly string[] {
  return text === undefined || text === ""
    ? []
    : text
        .trimEnd()
        .split("\n")
        .map((line) => `  ${line}`);
}
