/** Where the values of a JSON text stand: a second walk over a well-formed text, for refusals of values by their kind. */

export interface JsonPlace {
  /** Keys from the top; "" for the elements of a list. */
  readonly path: readonly string[];
  readonly kind: "object" | "array" | "string" | "number" | "bool" | "null";
  /** In the text: behind a scalar, behind the opening bracket of a list or an object. */
  readonly end: number;
}

/** The values down to `depth` keys, in the order in which they begin. */
export function findJsonPlaces(text: string, depth: number): JsonPlace[] {
  const places: JsonPlace[] = [];
  new Walk(text, depth, places).readValue([]);
  return places;
}

class Walk {
  readonly #text: string;
  readonly #depth: number;
  readonly #places: JsonPlace[];
  #at = 0;

  constructor(text: string, depth: number, places: JsonPlace[]) {
    this.#text = text;
    this.#depth = depth;
    this.#places = places;
  }

  readValue(path: readonly string[]): void {
    this.#skipBlanks();
    const first = this.#text.charAt(this.#at);
    if (first === "{" || first === "[") {
      this.#at++;
      this.#note(path, first === "{" ? "object" : "array");
      if (path.length < this.#depth) this.#readMembers(path, first === "{");
      else this.#skipMembers();
    } else if (first === '"') {
      this.#readText();
      this.#note(path, "string");
    } else {
      this.#at += /^[^\s,\]}]*/.exec(this.#text.slice(this.#at))?.[0].length ?? 0;
      this.#note(path, first === "n" ? "null" : first === "t" || first === "f" ? "bool" : "number");
    }
  }

  /** Up to the closing bracket. */
  #readMembers(path: readonly string[], isObject: boolean): void {
    for (;;) {
      this.#skipBlanks();
      const next = this.#text.charAt(this.#at);
      if (next === "," || next === "") this.#at++;
      if (next === "}" || next === "]" || next === "") {
        this.#at++;
        return;
      }
      if (next === ",") continue;
      const key = isObject ? this.#readText() : "";
      if (isObject) {
        this.#skipBlanks();
        this.#at++;
      }
      this.readValue([...path, key]);
    }
  }

  /** What lies too deep is not looked at, however deep that is. */
  #skipMembers(): void {
    for (let open = 1; open > 0 && this.#at < this.#text.length;) {
      const next = this.#text.charAt(this.#at);
      if (next === '"') {
        this.#readText();
        continue;
      }
      if (next === "{" || next === "[") open++;
      else if (next === "}" || next === "]") open--;
      this.#at++;
    }
  }

  #readText(): string {
    const from = this.#at++;
    while (this.#at < this.#text.length && this.#text.charAt(this.#at) !== '"') {
      this.#at += this.#text.charAt(this.#at) === "\\" ? 2 : 1;
    }
    this.#at++;
    return JSON.parse(this.#text.slice(from, this.#at)) as string;
  }

  #skipBlanks(): void {
    while (/\s/.test(this.#text.charAt(this.#at))) this.#at++;
  }

  #note(path: readonly string[], kind: JsonPlace["kind"]): void {
    this.#places.push({ path, kind, end: this.#at });
  }
}
