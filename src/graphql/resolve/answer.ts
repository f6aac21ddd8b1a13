/** The envelope of an answer: errors, data, extensions, as bytes (reference/messages 2.1). */
import { takeWriter } from "../../render/json-writer.ts";
import type { JsonWriter } from "../../render/json-writer.ts";
import type { CompletionError } from "../../render/graphql-json.ts";
import type { Location, ResponseError } from "../operation/errors.ts";
import type { SelectedField } from "../operation/prepare.ts";

/** What became of a root field. */
export interface RootOutcome {
  readonly field: SelectedField;
  /** What happened before its value was written. */
  readonly errors: readonly ResponseError[];
  /** Writes its value; undefined: it has none, not even null. */
  readonly write: ((out: JsonWriter, errors: CompletionError[]) => void) | undefined;
  /** Where it was written without errors: the answer with this value alone, up to the value's end. */
  readonly begun?: JsonWriter;
  /** It may not be null, and is: there is no `data` then. */
  readonly isMissing?: boolean;
  /** It was not begun: another root has told why its request is over. */
  readonly isSkipped?: boolean;
}

export function skippedRoot(field: SelectedField): RootOutcome {
  return { field, errors: [], write: undefined, isSkipped: true };
}

/** One word about all roots that were not begun, where each for itself would make a large answer of equal errors. */
function errorsOfSkipped(outcomes: readonly RootOutcome[]): readonly ResponseError[] {
  let count = 0;
  for (const { isSkipped } of outcomes) if (isSkipped === true) count++;
  if (count === 0) return [];
  return [{ message: `${count} more of the root fields are not answered: the request is over` }];
}

/**
 * The whole answer. `data` is left out where no root field has a value. `locate` gives the places of fields;
 * `extensions` the JSON behind everything, asked for when all else is written.
 */
export function writeAnswer(
  outcomes: readonly RootOutcome[],
  locate: (ordinal: number) => Location,
  extensions: (() => string) | undefined,
  bytesMax: number,
): Uint8Array {
  const [only] = outcomes;
  if (outcomes.length === 1 && only?.begun !== undefined && only.errors.length === 0) {
    return endAnswer(only.begun, extensions);
  }
  const out = takeWriter(bytesMax);
  const errors: ResponseError[] = [];
  const completion: CompletionError[] = [];
  out.byte(123);
  let valueCount = 0;
  let isMissing = false;
  for (const outcome of outcomes) {
    for (const error of outcome.errors) errors.push(error);
    if (outcome.write === undefined) continue;
    if (valueCount++ === 0) out.ascii(dataOpen);
    else out.byte(44);
    out.bytes(outcome.field.keyBytes);
    outcome.write(out, completion);
    isMissing ||= outcome.isMissing === true;
    for (const { place, message, path, ...others } of completion) {
      errors.push({ message, locations: [locate(place)], path, ...others });
    }
    completion.length = 0;
  }
  for (const error of errorsOfSkipped(outcomes)) errors.push(error);
  if (isMissing) {
    out.rewind(1);
    out.ascii('"data":null');
  } else if (valueCount > 0) out.byte(125);
  // Everything was skipped: an empty answer, not a missing one.
  if (outcomes.length === 0) out.ascii('"data":{}');
  if (errors.length > 0) return withErrors(out, errors, extensions);
  return close(out, extensions);
}

/** A writer in which an answer is begun whose first value is that of `field`. */
export function openAnswer(field: SelectedField, bytesMax: number): JsonWriter {
  const out = takeWriter(bytesMax);
  out.byte(123);
  out.ascii(dataOpen);
  out.bytes(field.keyBytes);
  return out;
}

const dataOpen = '"data":{';

function endAnswer(out: JsonWriter, extensions: (() => string) | undefined): Uint8Array {
  out.byte(125);
  return close(out, extensions);
}

function close(out: JsonWriter, extensions: (() => string) | undefined): Uint8Array {
  if (extensions !== undefined) {
    out.ascii(out.length > 1 ? ',"extensions":' : '"extensions":');
    out.text(extensions());
  }
  out.byte(125);
  return finish(out);
}

function finish(out: JsonWriter): Uint8Array {
  const body = out.whole();
  out.release();
  return body;
}

/** Errors stand in front of the data that they are about. */
function withErrors(
  data: JsonWriter,
  errors: readonly ResponseError[],
  extensions: (() => string) | undefined,
): Uint8Array {
  const body = data.slice(1);
  data.rewind(0);
  data.ascii('{"errors":');
  data.text(printErrors(errors));
  if (body.length > 0) {
    data.byte(44);
    data.bytes(body);
  }
  if (extensions !== undefined) {
    data.ascii(',"extensions":');
    data.text(extensions());
  }
  data.byte(125);
  return finish(data);
}

/** An answer without data. */
export function writeRefusal(
  errors: readonly ResponseError[],
  extensions: (() => string) | undefined,
): Uint8Array {
  const out = takeWriter(refusalBytesMax);
  out.byte(123);
  return withErrors(out, errors, extensions);
}

const refusalBytesMax = 16 * 1024 * 1024;

function printErrors(errors: readonly ResponseError[]): string {
  return JSON.stringify(
    errors.map(({ message, locations, path, extensions }) => ({
      message,
      ...(locations === undefined ? {} : { locations }),
      ...(path === undefined ? {} : { path }),
      ...(extensions === undefined ? {} : { extensions }),
    })),
  );
}
