/** What resolvers throw, and what of it a caller is told (docs/lambda.md). */
import type { ShownErrors } from "../limits.ts";
import type { ResolverError } from "../wire.ts";

/** In place of a value: the resolver threw, or what it promised was rejected. */
export class Failed {
  readonly error: unknown;
  readonly isRejected: boolean;

  constructor(error: unknown, isRejected: boolean) {
    this.error = error;
    this.isRejected = isRejected;
  }
}

/** An error as a script may have made it. */
interface Thrown {
  readonly message?: unknown;
  readonly stack?: unknown;
  readonly code?: unknown;
  readonly extensions?: unknown;
}

const messageCharactersMax = 4_000;
const extensionCharactersMax = 4_000;
const defaultCode = "RESOLVER_ERROR";
const unreadable = "what was thrown cannot be read";

/** Never throws, whatever was thrown. */
export function showError(error: unknown, shows: ShownErrors): ResolverError {
  try {
    if (shows === "none" || (shows === "own" && !isOwn(error))) return {};
    const message = textOf(error).slice(0, messageCharactersMax);
    return { message, extensions: extensionsOf(error) };
  } catch {
    return {};
  }
}

/** Of the language and the platform: what they say is of the script's inside. */
const foreignClasses = [TypeError, RangeError, ReferenceError, SyntaxError, URIError, EvalError];

function isOwn(error: unknown): boolean {
  if (typeof error === "string") return true;
  if (typeof error !== "object" || error === null) return false;
  const { message, extensions } = error as Thrown;
  if (typeof message !== "string") return false;
  if (isObject(extensions)) return true;
  const prototype: unknown = Object.getPrototypeOf(error);
  if (error instanceof DOMException || prototype === AggregateError.prototype) return false;
  return !foreignClasses.some((one) => prototype === one.prototype);
}

function textOf(error: unknown): string {
  const { message } = isObject(error) ? (error as Thrown) : {};
  return typeof message === "string" ? message : String(error);
}

/** Always with a code: the script's, or the one for all others. */
function extensionsOf(error: unknown): Readonly<Record<string, unknown>> {
  const { code, extensions }: Thrown = isObject(error) ? error : {};
  const own = isObject(extensions) ? { ...extensions } : {};
  const given = (own as Thrown).code ?? code;
  const all = { ...own, code: typeof given === "string" ? given.slice(0, 200) : defaultCode };
  return JSON.stringify(all).length > extensionCharactersMax ? { code: all.code } : all;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** With its trace, as far as it is the script's own. What is thrown may be anything, also what throws when it is looked at. */
export function describe(error: unknown): string {
  try {
    return describeTrace(error);
  } catch {
    return unreadable;
  }
}

function describeTrace(error: unknown): string {
  if (!(error instanceof Error)) return textOf(error);
  const { stack, message }: Thrown = error;
  const lines = String(stack ?? message).split("\n");
  return lines.filter((line) => !/^ +at .*(?:weft:runner|node:|\[eval\])/.test(line)).join("\n");
}

export function describeShort(error: unknown): string {
  try {
    const { message }: Thrown = error instanceof Error ? error : { message: error };
    return String(message);
  } catch {
    return unreadable;
  }
}
