/** DQL by tagged templates: values become variables of the query, so that none can change its text. */
import type { DqlText, DqlValue, MakeDqlText } from "./api.ts";

/** A text without declarations, and what it names: as it may stand inside another one. */
class Template implements DqlText {
  readonly #strings: readonly string[];
  readonly #values: readonly DqlValue[];

  constructor(strings: readonly string[], values: readonly DqlValue[]) {
    this.#strings = strings;
    this.#values = values;
  }

  get text(): string {
    return this.#written().text;
  }

  get variables(): Readonly<Record<string, string>> {
    return this.#written().variables;
  }

  /** The text with names in the place of values, which `slots` gathers. */
  write(slots: Slots): string {
    return this.#strings
      .map((part, i) => {
        const value = this.#values[i];
        return value === undefined ? part : part + writeValue(value, part, slots);
      })
      .join("");
  }

  #written(): DqlText {
    const slots = new Slots();
    const body = this.write(slots);
    return { text: declare(body, slots.declarations), variables: slots.variables };
  }
}

class Slots {
  readonly variables: Record<string, string> = {};
  readonly #types: string[] = [];

  get declarations(): string {
    return this.#types.join(", ");
  }

  add(type: string, value: string): string {
    const name = `$value${this.#types.length + 1}`;
    this.#types.push(`${name}: ${type}`);
    this.variables[name] = value;
    return name;
  }
}

export const dql: MakeDqlText = (strings, ...values) => new Template(strings, values);

/** Calls by template, and calls by text, as one function takes them. */
export function readDqlCall(
  first: TemplateStringsArray | string | DqlText,
  rest: readonly unknown[],
): DqlText {
  if (isStrings(first)) return new Template(first, rest as readonly DqlValue[]);
  const text = typeof first === "string" ? first : first.text;
  const given = Object.entries((rest[0] ?? {}) as Readonly<Record<string, unknown>>).map(
    ([name, value]) => [name.startsWith("$") ? name : `$${name}`, String(value)] as const,
  );
  const own = typeof first === "string" ? {} : first.variables;
  return { text, variables: { ...own, ...Object.fromEntries(given) } };
}

function isStrings(given: TemplateStringsArray | string | DqlText): given is TemplateStringsArray {
  return Array.isArray(given);
}

function writeValue(value: DqlValue, before: string, slots: Slots): string {
  if (value instanceof Template) return value.write(slots);
  if (Array.isArray(value)) {
    const list = value as readonly DqlValue[];
    // uid() takes one variable, whose text may be a list.
    if (/\buid\s*\(\s*$/.test(before))
      return slots.add("string", `[${list.map((one) => toVariable(one).text).join(",")}]`);
    return `[${list.map((one) => writeValue(one, "", slots)).join(", ")}]`;
  }
  const { type, text } = toVariable(value);
  return slots.add(type, text);
}

function toVariable(value: unknown): { readonly type: string; readonly text: string } {
  if (typeof value === "boolean") return { type: "bool", text: String(value) };
  if (typeof value === "bigint") return { type: "int", text: String(value) };
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError(`${value} is no number of DQL`);
    return { type: Number.isInteger(value) ? "int" : "float", text: String(value) };
  }
  if (value instanceof Date) return { type: "string", text: value.toISOString() };
  if (typeof value === "string") return { type: "string", text: value };
  throw new TypeError(
    "a value of a DQL text is a text, a number, a boolean, a date, or a list of them",
  );
}

/** `query name($a: string) {` has place for more; `{` gets a head. */
function declare(body: string, declarations: string): string {
  if (declarations === "") return body;
  const head = /^(?<before>\s*query\b[^{(]*)(?<open>\(?)/.exec(body);
  if (head === null) return `query values(${declarations}) ${body}`;
  const { before = "", open = "" } = head.groups ?? {};
  const behind = body.slice(head[0].length);
  return open === "("
    ? `${before}(${declarations}, ${behind}`
    : `${before.trimEnd()}(${declarations}) ${behind}`;
}
