/** One row of an input: its values by the names of columns, and where they stand. */
import { findJsonPlaces } from "../base/json-places.ts";

/** Columns that a file of rejected rows has beside those of the input. */
export const placeColumn = "weft_place";
export const errorColumn = "weft_error";

export interface Row {
  /** `people.csv:7` */
  readonly place: string;
  /** What is wrong with the row as such; undefined where it can be read. */
  readonly fault: string | undefined;
  readonly file: string;
  /** Names of the columns, where every row of the file has the same. The same list for each row. */
  readonly header: readonly string[] | undefined;
  /** undefined where there is nothing. */
  get(column: string): unknown;
  /** Where a value stands: `people.csv:7, column 3 (born)`. */
  placeOf(column: string): string;
  /** Equal for equal rows. */
  readonly text: string;
  /** Of its format, with the reason why it was refused; `header` for the first of a file. */
  printRejected(reason: string): { readonly header: string; readonly line: string };
}

/** What the rows of a table have in common. */
export interface Table {
  readonly file: string;
  readonly names: readonly string[];
  readonly indexes: ReadonlyMap<string, number>;
  readonly delimiter: string;
  /** TSV, where quotes are characters as others are. */
  readonly isTabbed: boolean;
}

export class TableRow implements Row {
  readonly table: Table;
  readonly #line: number;
  readonly #cells: readonly string[];

  constructor(table: Table, line: number, cells: readonly string[]) {
    this.table = table;
    this.#line = line;
    this.#cells = cells;
  }

  get file(): string {
    return this.table.file;
  }

  get place(): string {
    return `${this.file}:${this.#line}`;
  }

  get header(): readonly string[] {
    return this.table.names;
  }

  get fault(): string | undefined {
    const { length } = this.#cells;
    const wanted = this.header.length;
    return length === wanted ? undefined : `${length} columns, where the header has ${wanted}`;
  }

  get(column: string): string | undefined {
    const at = this.table.indexes.get(column);
    return at === undefined ? undefined : this.#cells[at];
  }

  placeOf(column: string): string {
    return `${this.place}, column ${(this.table.indexes.get(column) ?? 0) + 1} (${column})`;
  }

  get text(): string {
    return this.#cells.join("\u001F");
  }

  printRejected(reason: string): { readonly header: string; readonly line: string } {
    const own = this.header.filter((name) => name !== placeColumn && name !== errorColumn);
    const print = (cells: readonly string[]): string =>
      cells.map((cell) => this.#quote(cell)).join(this.table.delimiter);
    return {
      header: print([...own, placeColumn, errorColumn]),
      line: print([...own.map((name) => this.get(name) ?? ""), this.place, reason]),
    };
  }

  #quote(cell: string): string {
    const { delimiter, isTabbed } = this.table;
    if (isTabbed) return cell.replaceAll(/[\t\r\n]/g, " ");
    const isPlain = !cell.includes(delimiter) && !/["\r\n]/.test(cell);
    return isPlain ? cell : `"${cell.replaceAll('"', '""')}"`;
  }
}

/** `address.city` is the member of a member; through a list it is all of its elements'. */
export class JsonRow implements Row {
  readonly file: string;
  readonly #line: number;
  readonly text: string;
  readonly fault: string | undefined;
  readonly header = undefined;
  readonly #value: object = {};

  constructor(file: string, line: number, text: string) {
    this.file = file;
    this.#line = line;
    this.text = text.trim();
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) this.#value = value;
      else this.fault = "not an object";
    } catch (error) {
      this.fault = `not JSON: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  get place(): string {
    return `${this.file}:${this.#line}`;
  }

  get(column: string): unknown {
    if (Object.hasOwn(this.#value, column)) return (this.#value as Record<string, unknown>)[column];
    return follow(this.#value, column.split("."));
  }

  placeOf(column: string): string {
    const path = column.split(".");
    const found = findJsonPlaces(this.text, path.length).find(
      (one) => one.path.join(".") === path.join("."),
    );
    if (found === undefined) return `${this.place} (${column})`;
    const before = this.text.slice(0, found.end).split("\n");
    return `${this.file}:${this.#line + before.length - 1}:${before.at(-1)?.length ?? 0} (${column})`;
  }

  /** Names of the members that hold values, for drafts. */
  names(): string[] {
    return namesOf(this.#value, "");
  }

  printRejected(reason: string): { readonly header: string; readonly line: string } {
    if (this.fault !== undefined) {
      const told = { [placeColumn]: this.place, [errorColumn]: reason, text: this.text };
      return { header: "", line: JSON.stringify(told) };
    }
    // Put in front as text: the numbers of the row keep their digits.
    const front = JSON.stringify({ [placeColumn]: this.place, [errorColumn]: reason }).slice(0, -1);
    const rest = this.text.slice(1).replaceAll(/[\r\n]+/g, " ");
    return { header: "", line: `${front}${/^\s*\}/.test(rest) ? "" : ", "}${rest}` };
  }
}

function follow(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (Array.isArray(value)) {
    const found = value.map((one) => follow(one, path)).filter((one) => one !== undefined);
    return found.length === 0 ? undefined : found.flat();
  }
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return follow((value as Record<string, unknown>)[name], rest);
}

function namesOf(value: object, before: string): string[] {
  return Object.entries(value).flatMap(([name, one]) => {
    const isObject = typeof one === "object" && one !== null && !Array.isArray(one);
    return isObject ? namesOf(one as object, `${before}${name}.`) : [before + name];
  });
}
