/** Tables of what is expected, one line below what is asked, in sections whose headings begin with #. */
export interface ExpectationSection {
  readonly title: string;
  readonly rows: readonly (readonly [asked: string, expected: string])[];
}

export function readExpectations(table: string): ExpectationSection[] {
  return table
    .trim()
    .split("\n\n")
    .map((section) => {
      const [title = "", ...lines] = section.split("\n");
      const asked = lines.filter((_, i) => i % 2 === 0);
      return {
        title: title.slice("# ".length),
        rows: asked.map((text, i) => [text, (lines[2 * i + 1] ?? "").trim()] as const),
      };
    });
}
