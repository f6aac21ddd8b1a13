/** JSON, indented. The text is not parsed: numbers keep all the digits that the server has sent. */
export function indentJson(text: string): string {
  const out: string[] = [];
  let depth = 0;
  let at = 0;
  while (at < text.length) {
    const sign = text[at] ?? "";
    if (sign === '"') {
      const end = findStringEnd(text, at);
      out.push(text.slice(at, end));
      at = end;
      continue;
    }
    at++;
    if (sign === "{" || sign === "[") {
      const close = findEmptyEnd(text, at);
      if (close > 0) {
        out.push(sign, text[close] ?? "");
        at = close + 1;
      } else out.push(sign, lineAt(++depth));
    } else if (sign === "}" || sign === "]") out.push(lineAt(--depth), sign);
    else if (sign === ",") out.push(sign, lineAt(depth));
    else if (sign === ":") out.push(": ");
    else if (!/\s/.test(sign)) out.push(sign);
  }
  return out.join("");
}

function lineAt(depth: number): string {
  return `\n${"  ".repeat(Math.max(depth, 0))}`;
}

function findStringEnd(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return Math.min(at + 1, text.length);
}

/** Where an empty object or list that begins before `from` ends; 0: it has members. */
function findEmptyEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text[at] ?? "")) at++;
  return text[at] === "}" || text[at] === "]" ? at : 0;
}
