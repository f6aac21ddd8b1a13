/** From places in the text that runs to places in the files that it was made from, by its source map. */
import { SourceMap, type SourceMapPayload } from "node:module";

/** Line and column count from 1. */
export interface SourcePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Kept while its script runs. Without a map places stay as they are. */
export class SourcePlaces {
  readonly #script: string;
  readonly #text: string | undefined;
  #map: SourceMap | undefined;

  /** `script`: the name by which it is run. `map`: JSON; read when it is needed first. */
  constructor(script: string, map: string | undefined) {
    this.#script = script;
    this.#text = map;
  }

  /** `line` and `column` of what runs. */
  find(line: number, column: number): SourcePlace | undefined {
    const found = this.#read()?.findEntry(line - 1, column - 1);
    if (found === undefined || !("originalSource" in found)) return undefined;
    const { originalSource: file, originalLine, originalColumn } = found;
    return { file, line: originalLine + 1, column: originalColumn + 1 };
  }

  /** Of `LINE:COLUMN`, as a process of resolvers tells it. */
  parse(at: string): SourcePlace | undefined {
    const [line = 0, column = 0] = at.split(":").map(Number);
    return this.find(line, column);
  }

  /** A trace with the places of the files; the first of them is the innermost. */
  mapTrace(trace: string): { readonly text: string; readonly first: SourcePlace | undefined } {
    let first: SourcePlace | undefined;
    const lines = trace.split("\n").map((line) =>
      line.replace(framePattern, (frame: string, open: string, name: string, at: string) => {
        const place = name === this.#script ? this.parse(at) : undefined;
        if (place === undefined) return frame;
        first ??= place;
        return `${open}${place.file}:${place.line}:${place.column}`;
      }),
    );
    return { text: lines.join("\n"), first };
  }

  /** The text of the line at a place. */
  lineAt({ file, line }: SourcePlace): string | undefined {
    const { sources = [], sourcesContent = [] } = this.#read()?.payload ?? {};
    return sourcesContent[sources.indexOf(file)]?.split("\n")[line - 1];
  }

  #read(): SourceMap | undefined {
    if (this.#text === undefined) return undefined;
    this.#map ??= new SourceMap(JSON.parse(this.#text) as SourceMapPayload);
    return this.#map;
  }
}

/** The end of a frame as V8 writes it: `    at f (script.ts:3:7)`, `    at script.ts:3:7`. */
const framePattern = /(?<=^ +)(?<open>at (?:.*\()?)(?<name>[^()]+):(?<at>\d+:\d+)(?=\)?$)/;
