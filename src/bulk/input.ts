/** Files → pieces for threads: whole lines of RDF, or whole objects of JSON. */
import { concatBytes } from "../base/bytes.ts";
import { readInput, type InputFile } from "../load/input-files.ts";
import { JsonSplitter } from "../load/json-objects.ts";
import type { JsonJob, LinesJob } from "./jobs.ts";

type Piece =
  | { readonly kind: "lines"; readonly job: LinesJob }
  | { readonly kind: "json"; readonly job: JsonJob };

const pieceBytes = 1024 * 1024;
const lineFeed = 0x0a;

export async function* readPieces(
  files: readonly InputFile[],
  onRead: (bytes: number) => void,
): AsyncGenerator<Piece> {
  let before = 0;
  for (const file of files) {
    const told = (count: number): void => onRead(before + count);
    if (file.kind === "rdf") yield* readLines(file, told);
    else yield* readObjects(file, told);
    before += file.size;
    onRead(before);
  }
}

async function* readLines(file: InputFile, onRead: (count: number) => void): AsyncGenerator<Piece> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let line = 1;
  const piece = (bytes: Uint8Array): Piece => {
    const made: Piece = { kind: "lines", job: { bytes, file: file.name, line } };
    line += countLines(bytes);
    return made;
  };
  for await (const chunk of readInput(file, onRead)) {
    const cut = chunk.lastIndexOf(lineFeed) + 1;
    if (heldBytes + cut < pieceBytes || cut === 0) {
      held.push(chunk);
      heldBytes += chunk.length;
      continue;
    }
    yield piece(concatBytes(...held, chunk.subarray(0, cut)));
    held = [chunk.subarray(cut)];
    heldBytes = chunk.length - cut;
  }
  if (heldBytes > 0) yield piece(concatBytes(...held));
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) count++;
  return count;
}

async function* readObjects(
  file: InputFile,
  onRead: (count: number) => void,
): AsyncGenerator<Piece> {
  const splitter = new JsonSplitter(file.name);
  const decoder = new TextDecoder();
  let texts: string[] = [];
  let length = 0;
  let line = 1;
  const piece = (): Piece => {
    const job = { text: `[${texts.join(",")}]`, file: file.name, line };
    texts = [];
    length = 0;
    return { kind: "json", job };
  };
  for await (const chunk of readInput(file, onRead)) {
    for (const object of splitter.push(decoder.decode(chunk, { stream: true }))) {
      if (texts.length === 0) ({ line } = object);
      texts.push(object.text);
      length += object.text.length;
      if (length >= pieceBytes) yield piece();
    }
  }
  splitter.end();
  if (texts.length > 0) yield piece();
}
