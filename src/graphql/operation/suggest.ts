/** "Did you mean …?": the nearest names to one that does not exist. */

const suggestionsMax = 5;

/** ` Did you mean "a", "b", or "c"?`, or nothing. */
export function suggestQuoted(input: string, options: Iterable<string>): string {
  const nearest = nearestNames(input, options);
  return sentence(
    "Did you mean",
    nearest.map((name) => `"${name}"`),
  );
}

/** ` Did you mean a or b?`; `prefix` stands before the names. */
export function suggestBare(prefix: string, input: string, options: Iterable<string>): string {
  return sentence(prefix, nearestNames(input, options));
}

/** ` prefix a, b, or c?`; nothing for no names. */
export function sentence(prefix: string, names: readonly string[]): string {
  const shown = names.slice(0, suggestionsMax);
  return shown.length === 0 ? "" : ` ${prefix} ${joinWithOr(shown)}?`;
}

function joinWithOr(names: readonly string[]): string {
  if (names.length === 1) return names[0] ?? "";
  if (names.length === 2) return `${names[0]} or ${names[1]}`;
  return `${names.slice(0, -1).join(", ")}, or ${names.at(-1)}`;
}

/** Nearest first, equally near ones in their given order. */
function nearestNames(input: string, options: Iterable<string>): string[] {
  const found: { name: string; distance: number }[] = [];
  for (const name of options) {
    const threshold = Math.max(Math.floor(Math.max(input.length, name.length) / 2), 1);
    // As many letters have to go or come; the distance itself costs the product of the lengths.
    if (Math.abs(input.length - name.length) > threshold) continue;
    const distance = nameDistance(input, name);
    if (distance <= threshold) found.push({ name, distance });
  }
  found.sort((a, b) => a.distance - b.distance);
  return found.map((entry) => entry.name);
}

/** Edit distance without regard to case; a mere change of case counts as one. */
function nameDistance(a: string, b: string): number {
  if (a === b) return 0;
  const left = a.toLowerCase();
  const right = b.toLowerCase();
  if (left === right) return 1;
  let above = Array.from({ length: right.length + 1 }, (_, i) => i);
  for (let i = 1; i <= left.length; i++) {
    const row = [i];
    for (let j = 1; j <= right.length; j++) {
      const substitution = (above[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      row.push(Math.min(substitution, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    above = row;
  }
  return above[right.length] ?? 0;
}
