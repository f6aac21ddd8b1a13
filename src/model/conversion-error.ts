import { Fault, type FaultCode } from "./fault.ts";

/**
 * A text or value that is not what its type asks for. Thrown by the parsers and converters of this module, whose
 * callers know where in a request they stand: they let `asFault` give it a code, or catch it where a failed
 * conversion only means "no" (facet filters, type guesses). The message is the reference's, without a prefix.
 */
export class ConversionError extends Error {
  override readonly name = "ConversionError";
}

/** Runs a conversion; a ConversionError becomes a Fault with the code and, in front of its message, the prefix. */
export function asFault<T>(code: FaultCode, convert: () => T, prefix = ""): T {
  try {
    return convert();
  } catch (error) {
    throw toFault(code, error, prefix);
  }
}

/** The Fault for a ConversionError; any other error comes back unchanged. */
export function toFault(code: FaultCode, error: unknown, prefix = ""): unknown {
  if (!(error instanceof ConversionError)) return error;
  return new Fault(code, prefix + error.message, { cause: error });
}

/** undefined instead of a ConversionError. */
export function attempt<T>(convert: () => T): T | undefined {
  try {
    return convert();
  } catch (error) {
    if (error instanceof ConversionError) return undefined;
    throw error;
  }
}

const simpleEscapes = new Map<number, string>([
  [0x07, "\\a"],
  [0x08, "\\b"],
  [0x0c, "\\f"],
  [0x0a, "\\n"],
  [0x0d, "\\r"],
  [0x09, "\\t"],
  [0x0b, "\\v"],
  [0x22, '\\"'],
  [0x5c, "\\\\"],
]);

const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

/** Quotes a text as Go's %q does; the texts inside error messages are quoted so. */
export function quoteGo(text: string): string {
  if (/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const simple = simpleEscapes.get(code);
    if (simple !== undefined) quoted += simple;
    else if (!unprintable.test(character)) quoted += character;
    else if (code >= 0xd800 && code <= 0xdfff) quoted += "\\ufffd";
    else if (code < 0x20 || code === 0x7f) quoted += "\\x" + code.toString(16).padStart(2, "0");
    else if (code < 0x10000) quoted += "\\u" + code.toString(16).padStart(4, "0");
    else quoted += "\\U" + code.toString(16).padStart(8, "0");
  }
  return quoted + '"';
}
