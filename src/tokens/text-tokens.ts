import { hash } from "node:crypto";
import { encodeUtf8 } from "../base/bytes.ts";

/**
 * Longest text kept whole in a token, counting a zero byte twice (keys escape it). Longer ones are cut there and
 * closed by 0xff, which UTF-8 never has, and a hash of the whole text: still distinct, ordered up to the cut.
 */
const wholeBytesMax = 1000;

const cutMark = 0xff;
const hashBytes = 16;

/** The UTF-8 bytes of a text, cut and hashed where they are too many for a key. */
export function textToken(text: string): Uint8Array {
  const bytes = encodeUtf8(text);
  if (bytes.length * 2 <= wholeBytesMax) return bytes;
  const end = cutPlace(bytes);
  if (end === bytes.length) return bytes;
  const token = new Uint8Array(end + 1 + hashBytes);
  token.set(bytes.subarray(0, end));
  token[end] = cutMark;
  token.set(hashOf(bytes), end + 1);
  return token;
}

function cutPlace(bytes: Uint8Array): number {
  let cost = 0;
  for (let i = 0; i < bytes.length; i++) {
    cost += bytes[i] === 0 ? 2 : 1;
    if (cost > wholeBytesMax) return i;
  }
  return bytes.length;
}

/** Whether a token made of a text does not hold all of it: what it finds must be compared with the value. */
export function isCutToken(token: Uint8Array): boolean {
  return token.length > hashBytes && token[token.length - hashBytes - 1] === cutMark;
}

/** In one call: a Hash object cost three times as much, and the collector more. */
function hashOf(bytes: Uint8Array): Uint8Array {
  const digest = hash("sha256", bytes, "binary");
  const token = new Uint8Array(hashBytes);
  for (let i = 0; i < hashBytes; i++) token[i] = digest.charCodeAt(i);
  return token;
}

/** Joins parts of a token. 0xff is free as a mark only behind texts, so hashes stand first or last. */
function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  const token = new Uint8Array(first.length + second.length);
  token.set(first);
  token.set(second, first.length);
  return token;
}

/** Before the texts of a tagged value: 1, the tag, 0. Untagged texts begin with 0, so they come first. */
const untagged = Uint8Array.of(0);

/**
 * `exact`: the language, then the text. Within a language the tokens order as the texts do by their bytes;
 * collation cannot be had in bytes, so tagged texts are walked by bytes and compared by `textOrder`.
 */
export function exactToken(text: string, language: string): Uint8Array {
  return join(exactPrefix(language), textToken(text));
}

/** What every `exact` token of a language begins with; "" for untagged texts. */
export function exactPrefix(language: string): Uint8Array {
  if (language === "") return untagged;
  const tag = encodeUtf8(language);
  const prefix = new Uint8Array(tag.length + 2);
  prefix[0] = 1;
  prefix.set(tag, 1);
  return prefix;
}

/**
 * The first token of the languages after that of `token`: seeking it again and again visits each language of an
 * index once, which is how `eq(p@., v)` finds the languages that there are.
 */
export function nextExactLanguage(token: Uint8Array): Uint8Array {
  if (token[0] === 0) return Uint8Array.of(1);
  const end = token.indexOf(0, 1);
  const next = token.slice(0, end + 1);
  next[end] = 1;
  return next;
}

/** The language of an `exact` token. */
export function exactLanguage(token: Uint8Array): string {
  if (token[0] === 0) return "";
  return new TextDecoder().decode(token.subarray(1, token.indexOf(0, 1)));
}

/**
 * Texts that were hashed last: a look-up asks for the same token when it counts, when it reads and when it checks, a
 * write when it looks for the holder and when it derives, with other requests in between. A hash costs 2 µs.
 */
const hashed = new Map<string, Uint8Array>();
const hashedMax = 256;
/** Longer texts are not kept. */
const hashedUnitsMax = 1024;

function digestOf(text: string): Uint8Array {
  const known = hashed.get(text);
  if (known !== undefined) return known;
  const digest = hashOf(encodeUtf8(text));
  if (hashed.size >= hashedMax) hashed.clear();
  if (text.length <= hashedUnitsMax) hashed.set(text, digest);
  return digest;
}

/** `hash`: 16 bytes of the text, then the language's tag, so that texts of all languages share a prefix. */
export function hashToken(text: string, language: string): Uint8Array {
  const digest = digestOf(text);
  return language === "" ? digest : join(digest, encodeUtf8(language));
}

/** Every 3-byte window of the text, each once. Texts under 3 bytes have none. */
export function trigramTokens(text: string): Uint8Array[] {
  const bytes = encodeUtf8(text);
  const seen = new Set<number>();
  const tokens: Uint8Array[] = [];
  for (let i = 0; i + 3 <= bytes.length; i++) {
    const window = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    if (seen.has(window)) continue;
    seen.add(window);
    tokens.push(bytes.subarray(i, i + 3));
  }
  return tokens;
}

const sha256Length = 64;

/** `sha256`: the first 64 characters, which are the hash of a persisted query. */
export function sha256Tokens(text: string): Uint8Array[] {
  return text.length < sha256Length ? [] : [encodeUtf8(text.slice(0, sha256Length))];
}
