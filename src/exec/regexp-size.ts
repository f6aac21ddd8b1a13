/** How large the program of a regular expression is: a repetition in numbers is written out, as often as it says. */

/** Program parts beyond which an expression is refused; compiling so many takes about a tenth of a second. */
export const regexpSizeMax = 50_000;

/** One of Unicode's classes is a list of ranges. */
const unicodeClassSize = 10;

/** Instructions of a program, by and large. Text that is no expression gets any number. */
export function sizeOfRegexp(source: string): number {
  /** Of the groups that are open: what stands in each. */
  const groups: number[] = [];
  let size = 0;
  /** Of the last part, which a repetition is of. */
  let part = 0;
  for (let i = 0; i < source.length; i++) {
    const c = source.charAt(i);
    if (c === "(") {
      groups.push(size);
      size = 0;
      part = 0;
    } else if (c === ")") {
      part = size + 2;
      size = (groups.pop() ?? 0) + part;
    } else if (c === "{") {
      const repeat = repetition.exec(source.slice(i, i + 16));
      if (repeat === null) continue;
      const [all, least, most] = repeat;
      const times = Math.max(1, Number(most ?? least));
      size += part * (times - 1);
      part *= times;
      i += all.length - 1;
    } else {
      part = 1;
      if (c === "\\") {
        if (/[pP]/.test(source.charAt(++i))) {
          part = unicodeClassSize;
          const end = source.charAt(++i) === "{" ? source.indexOf("}", i) : i;
          i = end < 0 ? source.length : end;
        }
      } else if (c === "[") i = endOfClass(source, i);
      size += part;
    }
  }
  for (const open of groups) size += open;
  return size;
}

const repetition = /^\{(?<least>\d+)(?:,(?<most>\d+)?)?\}/;

function endOfClass(source: string, start: number): number {
  let first = source.charAt(start + 1) === "^" ? start + 2 : start + 1;
  // A bracket that comes first belongs to the class.
  if (source.charAt(first) === "]") first++;
  for (let i = first; i < source.length; i++) {
    if (source.charAt(i) === "\\") i++;
    else if (source.charAt(i) === "]") return i;
  }
  return source.length;
}
