import { ConversionError } from "./conversion-error.ts";
import { parseGoFloat, printFloat32E, printFloat32F } from "./float.ts";

/**
 * `[1, 2.5, -3e2]`: numbers in brackets, parted by commas or by blanks; the empty text is the empty vector.
 * Errors: `cannot convert … to vfloat` (reference/dql 2.11).
 */
export function parseVector(text: string): Float32Array {
  const vector = readVector(text);
  if (vector !== undefined) return vector;
  throw new ConversionError(`cannot convert ${text.replace(/[\n\t]/g, " ").trim()} to vfloat`);
}

/** Whether a JSON string would be read as a vector, which an empty one is not (reference/dql 2.9). */
export function isVectorText(text: string): boolean {
  return text.startsWith("[") && (readVector(text)?.length ?? 0) > 0;
}

function readVector(text: string): Float32Array | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return new Float32Array(0);
  if (!trimmed.startsWith("[") || !trimmed.endsWith("]")) return undefined;
  // Brackets too many at the end are let pass.
  let end = trimmed.length;
  while (end > 1 && trimmed[end - 1] === "]") end--;
  const inner = trimmed.slice(1, end).trim();
  if (inner === "") return new Float32Array(0);
  const words = inner.includes(",") ? inner.split(",") : inner.split(/\s+/);
  const vector = new Float32Array(words.length);
  for (let i = 0; i < words.length; i++) {
    const number = readElement((words[i] ?? "").trim());
    if (number === undefined) return undefined;
    vector[i] = number;
  }
  return vector;
}

function readElement(word: string): number | undefined {
  try {
    const number = Math.fround(parseGoFloat(word));
    return Number.isFinite(number) ? number : undefined;
  } catch (error) {
    if (error instanceof ConversionError) return undefined;
    throw error;
  }
}

/** `[1,0.25]`: the text that a vector becomes as a value of another kind. */
export function printVectorText(vector: Float32Array): string {
  return `[${Array.from(vector, printFloat32F).join(",")}]`;
}

/** `[1E+00,2.5E-01]`, as answers print vectors. */
export function printVector(vector: Float32Array): string {
  let text = "[";
  for (let i = 0; i < vector.length; i++) {
    if (i > 0) text += ",";
    text += printFloat32E(vector[i] ?? 0);
  }
  return text + "]";
}
