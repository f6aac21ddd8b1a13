/**
 * Templates of URLs (reference/graphql 8.2, 8.4): a variable is a whole segment of the path, `/users/$id`, or the whole
 * value of a parameter, `?name=$name`. Nothing of the host is ever a variable.
 */

export interface UrlVariable {
  readonly name: string;
  readonly place: "path" | "query";
}

interface UrlParts {
  /** Scheme and host, "" for a relative URL. */
  readonly origin: string;
  /** Segments between slashes, as written; the first is "" where there is a path. */
  readonly segments: readonly string[];
  /** Pairs of the query, decoded, in their order. */
  readonly pairs: readonly (readonly [name: string, value: string])[];
}

export function splitUrl(text: string): UrlParts {
  const groups =
    /^(?<origin>[a-z][a-z0-9+.-]*:\/\/[^/?#]*)?(?<path>[^?#]*)(?:\?(?<query>[^#]*))?/i.exec(
      text,
    )?.groups;
  const { origin = "", path = "", query = "" } = groups ?? {};
  const pairs = query
    .split("&")
    // The reference leaves out pairs with a semicolon.
    .filter((pair) => pair !== "" && !pair.includes(";"))
    .map((pair) => {
      const [name = "", ...rest] = pair.split("=");
      return [decode(name), decode(rest.join("="))] as const;
    });
  return { origin, segments: path.split("/"), pairs };
}

function decode(text: string): string {
  const plain = text.replaceAll("+", " ");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

export function readUrlVariables(text: string): readonly UrlVariable[] {
  const { segments, pairs } = splitUrl(text);
  const found: UrlVariable[] = [];
  for (const segment of segments) {
    const name = urlVariableOf(segment);
    if (name !== undefined) found.push({ name, place: "path" });
  }
  for (const [, value] of pairs) {
    const name = urlVariableOf(value);
    if (name !== undefined) found.push({ name, place: "query" });
  }
  return found;
}

/** The name of a variable; undefined for other text. */
export function urlVariableOf(text: string): string | undefined {
  return text.startsWith("$") ? text.slice(1) : undefined;
}

/** As the reference accepts one: an absolute URL, or a path. */
export function isUrl(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- these are what must not be there
  if (text === "" || /[\u0000-\u001f\u007f]/.test(text)) return false;
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(text)?.[0] ?? "";
  const rest = text.slice(scheme.length);
  if (scheme === "" && !rest.startsWith("/")) return false;
  const path = rest.startsWith("//") ? rest.slice(2).replace(/^[^/?]*/, "") : rest;
  if (/%(?![0-9a-f]{2})/i.test(path.split("?")[0] ?? "")) return false;
  if (scheme === "" || !rest.startsWith("//")) return true;
  const host = /^\/\/(?<host>[^/?]*)/.exec(rest)?.groups?.["host"] ?? "";
  return host === "" || URL.canParse(`http://${host}/`);
}
