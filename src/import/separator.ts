/** What stands between the columns of a CSV, as its first line shows. */

/** The first wins where two are as many. */
const known = [",", ";", "\t", "|"] as const;

/** A first line that is longer is none of columns. */
const headLengthMax = 64 * 1024;

/** The separator that the first line has most of, outside of quotes; a comma where it has none. */
function guessSeparator(head: string): string {
  const counts = new Map<string, number>(known.map((one) => [one, 0]));
  let isQuoted = false;
  for (const character of head) {
    if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === "\n" || character === "\r") break;
    else if (counts.has(character)) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const most = Math.max(...counts.values());
  return known.find((one) => counts.get(one) === most) ?? ",";
}

/** The separator of a stream, and the same stream from its begin. */
export async function peekSeparator(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ readonly separator: string; readonly chunks: AsyncIterable<Uint8Array> }> {
  const rest = chunks[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  const decoder = new TextDecoder();
  let head = "";
  while (head.length < headLengthMax && !hasWholeLine(head)) {
    const next = await rest.next();
    if (next.done === true) break;
    seen.push(next.value);
    head += decoder.decode(next.value, { stream: true });
  }
  return { separator: guessSeparator(head), chunks: joinChunks(seen, rest) };
}

function hasWholeLine(head: string): boolean {
  return /^(?:[^"\r\n]|"[^"]*")*[\r\n]/.test(head);
}

async function* joinChunks(
  seen: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* seen;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}
