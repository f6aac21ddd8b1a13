/** `line L column C` of an offset: lines from 1, columns from 0 in bytes of UTF-8. */
export function locate(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let column = 0;
  for (let i = 0; i < offset; i++) {
    const code = text.charCodeAt(i);
    if (code === 10 || code === 13) {
      line++;
      column = 0;
    } else if (code < 0x80) column++;
    else if (code < 0x800 || (code >= 0xd800 && code <= 0xdfff)) column += 2;
    else column += 3;
  }
  return { line, column };
}
