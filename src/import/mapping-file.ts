/** A YAML document as its readers ask for it: by names, with places, and nothing left that nobody has asked for. */
import { isMap, isScalar, LineCounter, parseDocument, type Node, type YAMLMap } from "yaml";
import { Fault } from "../model/fault.ts";

/** Fault E_STARTUP with file, line and column where the text is no mapping of YAML. */
export function openMappingFile(text: string, name: string): MappingSection {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const placeAt = (offset: number | undefined): string => {
    const { line, col } = counter.linePos(offset ?? 0);
    return `${name}:${line}:${col}`;
  };
  const [error] = document.errors;
  if (error !== undefined) {
    throw new Fault("E_STARTUP", `${placeAt(error.pos[0])}: ${error.message}`);
  }
  if (!isMap(document.contents)) {
    throw new Fault("E_STARTUP", `${placeAt(0)}: a mapping begins with "type: …"`);
  }
  return new MappingSection(document.contents, placeAt(0), placeAt);
}

export class MappingSection {
  readonly place: string;
  readonly #map: YAMLMap;
  readonly #placeAt: (offset: number | undefined) => string;
  readonly #asked = new Set<string>();

  constructor(map: YAMLMap, place: string, placeAt: (offset: number | undefined) => string) {
    this.#map = map;
    this.place = place;
    this.#placeAt = placeAt;
  }

  keys(): string[] {
    return this.#map.items.map(({ key }) => String(isScalar(key) ? key.value : key));
  }

  placeOf(key: string): string {
    const pair = this.#map.items.find((one) => isScalar(one.key) && String(one.key.value) === key);
    return this.#placeAt((pair?.key as Node | undefined)?.range?.[0]);
  }

  /** A scalar or a list, as JSON has it; undefined where there is none, or a mapping. */
  plain(key: string): unknown {
    this.#asked.add(key);
    const node = this.#node(key);
    if (node === undefined || isMap(node)) return undefined;
    return node.toJSON() as unknown;
  }

  text(key: string): string | undefined {
    const value = this.plain(key);
    if (typeof value === "string") return value;
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    if (this.#node(key) === undefined) return undefined;
    throw this.#misfit(key, "a text");
  }

  requiredText(key: string): string {
    const text = this.text(key);
    if (text !== undefined && text !== "") return text;
    throw new Fault("E_STARTUP", `${this.place}: "${key}" is missing`);
  }

  /** One text, or a list of them. */
  texts(key: string): readonly string[] | undefined {
    if (this.#node(key) === undefined) return undefined;
    const value = this.plain(key);
    const list: unknown[] = Array.isArray(value) ? value : [value];
    return list.map((one) => {
      // `null: [null]`: the word itself, which YAML reads as nothing.
      if (one === null) return "null";
      if (typeof one === "string") return one;
      if (typeof one === "number" || typeof one === "boolean") return String(one);
      throw this.#misfit(key, "texts");
    });
  }

  oneOf<T extends string>(key: string, words: readonly T[]): T | undefined {
    const text = this.text(key);
    const word = words.find((one) => one === text);
    if (word !== undefined || text === undefined) return word;
    throw this.#misfit(key, `one of ${words.map((one) => JSON.stringify(one)).join(", ")}`);
  }

  section(key: string): MappingSection | undefined {
    this.#asked.add(key);
    const node = this.#node(key);
    if (!isMap(node)) return undefined;
    return new MappingSection(node, this.placeOf(key), this.#placeAt);
  }

  /** Fault E_STARTUP for the first key that nobody has asked for. */
  refuseOthers(): void {
    const other = this.keys().find((key) => !this.#asked.has(key));
    if (other === undefined) return;
    const known = [...this.#asked].join(", ");
    throw new Fault(
      "E_STARTUP",
      `${this.placeOf(other)}: "${other}" is not known here (known: ${known})`,
    );
  }

  #node(key: string): Node | undefined {
    const pair = this.#map.items.find((one) => isScalar(one.key) && String(one.key.value) === key);
    return (pair?.value as Node | null | undefined) ?? undefined;
  }

  #misfit(key: string, wanted: string): Fault {
    return new Fault("E_STARTUP", `${this.placeOf(key)}: "${key}" wants ${wanted}`);
  }
}
