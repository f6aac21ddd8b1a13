/** Files → batches of mutations, streamed: at any time one chunk of a file and one batch are in memory. */
import { readInput, type InputFile } from "./input-files.ts";
import type { LabelUids } from "./label-uids.ts";
import { JsonSplitter, rewriteJsonLabels } from "./json-objects.ts";
import { rewriteRdfLine } from "./rdf-lines.ts";

export interface Batch {
  readonly file: string;
  readonly kind: "rdf" | "json";
  readonly items: readonly Item[];
  readonly bytesTotal: number;
}

/** A fact as a line of RDF, or an object of JSON, with the line on which it begins. */
interface Item {
  readonly text: string;
  readonly line: number;
}

interface Input {
  readonly files: readonly InputFile[];
  readonly batchSize: number;
  readonly nodes: LabelUids;
  /** Bytes of the files read so far. */
  readonly onRead: (byteCount: number) => void;
}

/** JSON objects vary in size: a batch ends at this many characters too. */
const batchLengthMax = 1024 * 1024;

export async function* readBatches(input: Input): AsyncGenerator<Batch> {
  const { files } = input;
  const bytesTotal = files.reduce((sum, file) => sum + file.size, 0);
  let bytesBefore = 0;
  for (const file of files) {
    const before = bytesBefore;
    const text = readText(file, (count) => input.onRead(before + count));
    const items = file.kind === "rdf" ? readRdf(text, input) : readJson(text, file.name, input);
    for await (const list of items)
      yield { file: file.name, kind: file.kind, items: list, bytesTotal };
    bytesBefore += file.size;
    input.onRead(bytesBefore);
  }
}

async function* readText(file: InputFile, onRead: (count: number) => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of readInput(file, onRead)) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

interface Resolvers {
  readonly resolve: (label: string) => number;
  readonly resolveNumber: (name: string) => number | undefined;
}

function resolversOf(nodes: LabelUids): Resolvers {
  return {
    resolve: (label) => nodes.resolve(label),
    resolveNumber: (name) => nodes.resolveNumber(name),
  };
}

async function* readRdf(chunks: AsyncIterable<string>, input: Input): AsyncGenerator<Item[]> {
  let rest = "";
  let line = 0;
  let items: Item[] = [];
  const { batchSize, nodes } = input;
  const { resolve, resolveNumber } = resolversOf(nodes);
  const take = (text: string): void => {
    line++;
    const trimmed = text.trim();
    if (trimmed === "" || trimmed.startsWith("#")) return;
    items.push({ text: rewriteRdfLine(trimmed, resolve, resolveNumber), line });
  };
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) {
      // A line names two nodes at most.
      if (items.length === 0) await nodes.prepare(batchSize * 2);
      take(text);
      if (items.length < batchSize) continue;
      yield items;
      items = [];
    }
  }
  await nodes.prepare(items.length * 2 + 2);
  take(rest);
  if (items.length > 0) yield items;
}

async function* readJson(
  chunks: AsyncIterable<string>,
  file: string,
  input: Input,
): AsyncGenerator<Item[]> {
  const { resolve, resolveNumber } = resolversOf(input.nodes);
  const splitter = new JsonSplitter(file);
  let items: Item[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    for (const { text, line, labelCountMax } of splitter.push(chunk)) {
      await input.nodes.prepare(labelCountMax);
      items.push({ text: rewriteJsonLabels(text, resolve, resolveNumber), line });
      length += text.length;
      if (items.length < input.batchSize && length < batchLengthMax) continue;
      yield items;
      items = [];
      length = 0;
    }
  }
  splitter.end();
  if (items.length > 0) yield items;
}
