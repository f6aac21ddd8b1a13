/** Requests as they may stand in a log: what was asked, without the values, among which secrets are. */

/** Of one text, at most so much is told. */
const shownMax = 2_000;

/** Literals of DQL and GraphQL, N-Quads and JSON. Block strings first: they hold quotation marks. */
const literals = /"""[\s\S]*?(?:"""|$)|"(?:[^"\\\n]|\\.)*(?:"|$)/g;

/**
 * The text of a query or a mutation with each string in it shown as "…". Of a JSON body the member `query` is shown, and
 * its variables are not.
 */
export function redactText(text: string): string {
  const shown = queryOf(text).replaceAll(literals, '"…"').replaceAll(/\s+/g, " ").trim();
  return shown.length > shownMax ? `${shown.slice(0, shownMax)}…` : shown;
}

/** More is not taken apart for a line of a log. */
const jsonMax = 256 * 1024;

function queryOf(text: string): string {
  if (!/^\s*\{\s*"/.test(text) || text.length > jsonMax) return text.slice(0, jsonMax);
  try {
    const { query } = JSON.parse(text) as { readonly query?: unknown };
    return typeof query === "string" ? query : text;
  } catch {
    return text;
  }
}
