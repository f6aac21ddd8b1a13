/** A line of the log for people: when, how bad, who, what, and its fields. */

const names: Readonly<Record<number, string>> = {
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};

interface Entry {
  readonly level: number;
  readonly time: number;
  readonly pid: number;
  readonly name: string;
  readonly msg: string;
}

/** `json`: one entry as the log writes it for machines. Fields of several lines follow, indented. */
export function printLine(json: string): string {
  const { level, time, pid: _pid, name, msg, ...fields } = JSON.parse(json) as Entry;
  const clock = new Date(time).toISOString().slice(11, 23);
  let line = `${clock} ${(names[level] ?? String(level)).padEnd(5)} ${name}: ${msg}`;
  let behind = "";
  for (const [key, value] of Object.entries(fields)) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (text.includes("\n"))
      behind += `\n  ${key}:\n    ${text.trimEnd().replaceAll("\n", "\n    ")}`;
    else line += ` ${key}=${/[\s"=]/.test(text) ? JSON.stringify(text) : text}`;
  }
  return `${withoutControls(line + behind)}\n`;
}

/** What a client sent may hold the codes that move a terminal's cursor. Ends of lines stay. */
export function withoutControls(text: string): string {
  return text.replaceAll(controls, "\u00b7");
}

// oxlint-disable-next-line no-control-regex -- control characters are what it is for
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g;
