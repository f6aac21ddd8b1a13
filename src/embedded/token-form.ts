/** How an application's tokens are signed, as a schema's `Dgraph.Authorization` says it. */
import { parseMetaLines } from "../graphql/schema/sdl-meta.ts";

export interface TokenForm {
  readonly header: string;
  /** The claim that holds the others; undefined: they stand by themselves. */
  readonly namespace: string | undefined;
  readonly algorithm: string;
  /** Of Node's crypto. */
  readonly hash: string;
  readonly key: Uint8Array;
  readonly audience: string | undefined;
}

/** A text says why there is none. */
export function readTokenForm(schema: string): TokenForm | string {
  const { authorization } = parseMetaLines(schema);
  if (authorization === undefined)
    return "the schema has no Dgraph.Authorization: nobody has a token";
  const { header, namespace, keys, audience } = authorization;
  if (keys.kind !== "key" || !(keys.key instanceof Uint8Array)) {
    return "the tokens of this schema are signed with a private key: sign them yourself, and send the header";
  }
  const { algorithm, key } = keys;
  return {
    header,
    namespace: namespace === "" ? undefined : namespace,
    algorithm,
    hash: algorithm.replace("HS", "sha"),
    key,
    audience: audience[0],
  };
}
