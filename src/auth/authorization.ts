/** The line `# Dgraph.Authorization` of a schema: who vouches for a caller, and how (reference/graphql 6.1). */
import { createPublicKey } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { Fault } from "../model/fault.ts";

export interface Authorization {
  /** The request header that carries the token, as written. */
  readonly header: string;
  /** The claim whose members overlay the token's own. */
  readonly namespace: string;
  readonly keys: KeySource;
  /** The token's `aud` must hold one of them; [] where the line names none. */
  readonly audience: readonly string[];
  /** Every operation needs a valid token. */
  readonly isClosedByDefault: boolean;
}

/** Where the key comes from that a token is checked with. */
type KeySource =
  | {
      readonly kind: "key";
      readonly algorithm: string;
      readonly key: Uint8Array | KeyObject;
    }
  | { readonly kind: "sets"; readonly urls: readonly string[] };

const algorithms = ["HS256", "HS384", "HS512", "RS256", "RS384", "RS512"];

/** What a line says, not yet judged. */
interface Written {
  header: string;
  namespace: string;
  algo: string;
  verificationkey: string;
  jwkurl: string;
  jwkurls: readonly string[];
  audience: readonly string[];
  closedbydefault: boolean;
}

/** Reads the whole comment line, without blanks around it. Throws Fault E_GRAPHQL_SCHEMA. */
export function parseAuthorization(line: string): Authorization {
  const written = readLine(line);
  checkMembers(written);
  return {
    header: written.header,
    namespace: written.namespace,
    keys: keySourceOf(written),
    audience: written.audience,
    isClosedByDefault: written.closedbydefault,
  };
}

function readLine(line: string): Written {
  const text = line.replace(/^#\s*Dgraph\.Authorization/, "").trim();
  const written = readJsonForm(text) ?? readPositionalForm(text);
  if (written !== undefined) return written;
  throw refuse(`input: Invalid \`Dgraph.Authorization\` format: ${line}`);
}

/** A JSON object, its keys in any case; unknown members say nothing. undefined where it is none. */
function readJsonForm(text: string): Written | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const written: Written = emptyLine();
  for (const [name, member] of Object.entries(value)) {
    const key = name.toLowerCase();
    if (!(key in written) || member === null) continue;
    const known = key as keyof Written;
    if (!isLike(written[known], member)) return undefined;
    Object.assign(written, { [known]: member });
  }
  return written;
}

/** Whether a member has the form of its place: a text, a list of texts, a boolean. */
function isLike(place: Written[keyof Written], member: unknown): boolean {
  if (!Array.isArray(place)) return typeof member === typeof place;
  return Array.isArray(member) && member.every((item) => typeof item === "string");
}

/** `Header Namespace Algo "key"`. */
function readPositionalForm(text: string): Written | undefined {
  const match = /^(?<header>\S+)\s+(?<namespace>\S+)\s+(?<algo>\S+)\s+"(?<key>[^"]+)"/.exec(text);
  const groups = match?.groups;
  if (groups === undefined) return undefined;
  return {
    ...emptyLine(),
    header: groups["header"] ?? "",
    namespace: groups["namespace"] ?? "",
    algo: groups["algo"] ?? "",
    verificationkey: groups["key"] ?? "",
  };
}

function emptyLine(): Written {
  return {
    header: "",
    namespace: "",
    algo: "",
    verificationkey: "",
    jwkurl: "",
    jwkurls: [],
    audience: [],
    closedbydefault: false,
  };
}

function checkMembers(written: Written): void {
  const missing: string[] = [];
  if (written.jwkurl !== "" || written.jwkurls.length > 0) {
    if (written.jwkurl !== "" && written.jwkurls.length > 0)
      throw refuse("expecting either JWKUrl or JWKUrls, both were given");
    if (written.verificationkey !== "" || written.algo !== "")
      throw refuse("expecting either JWKUrl/JWKUrls or (VerificationKey, Algo), both were given");
    if (written.audience.length === 0) missing.push("`Audience`");
  } else {
    if (written.verificationkey === "") missing.push("`Verification key`/`JWKUrl`/`JWKUrls`");
    if (written.algo === "") missing.push("`Algo`");
  }
  if (written.header === "") missing.push("`Header`");
  if (written.namespace === "") missing.push("`Namespace`");
  if (missing.length > 0)
    throw refuse(`required field missing in Dgraph.Authorization: ${missing.join(" ")}`);
}

function keySourceOf(written: Written): KeySource {
  if (written.jwkurl !== "") return { kind: "sets", urls: [written.jwkurl] };
  if (written.jwkurls.length > 0) return { kind: "sets", urls: written.jwkurls };
  const algorithm = written.algo;
  if (!algorithms.includes(algorithm))
    throw refuse(
      `invalid jwt algorithm: found ${algorithm}, but supported options are: ${algorithms.join(",")}`,
    );
  const text = written.verificationkey;
  const key = algorithm.startsWith("HS") ? new TextEncoder().encode(text) : readPem(text);
  return { kind: "key", algorithm, key };
}

/** Bytes of the hash of each algorithm with a shared secret: a shorter secret is easier to guess than the hash (RFC 7518, 3.2). */
const secretBytesMin: Readonly<Record<string, number>> = { HS256: 32, HS384: 48, HS512: 64 };

/** A sentence about a shared secret that is shorter than its algorithm asks for; undefined where there is none. */
export function findWeakKey({ keys }: Authorization): string | undefined {
  if (keys.kind !== "key" || !(keys.key instanceof Uint8Array)) return undefined;
  const wanted = secretBytesMin[keys.algorithm] ?? 0;
  if (keys.key.length >= wanted) return undefined;
  return `Dgraph.Authorization; the VerificationKey has ${keys.key.length} bytes: ${keys.algorithm} needs ${wanted} or more, whoever has a token may find a shorter one by trying.`;
}

/** Line ends may be written as `\n`: the line is one line. */
function readPem(text: string): KeyObject {
  try {
    const key = createPublicKey(text.replaceAll("\\n", "\n"));
    if (key.asymmetricKeyType === "rsa") return key;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
  throw refuse("invalid key: Key must be a PEM encoded PKCS1 or PKCS8 key");
}

function refuse(message: string): Fault {
  return new Fault("E_GRAPHQL_SCHEMA", message);
}
