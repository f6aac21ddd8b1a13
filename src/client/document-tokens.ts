/**
 * GraphQL documents in types: the text of a document to its tokens. A token is what it stands for: `{`, `queryTask`,
 * `$id`, `@include`, `...`. Texts and numbers, which decide no type, are `""` and `0`. These types are published as they
 * stand here.
 */

/** DocumentTokens of a document, in order. A thousand at most: the compiler goes no further. */
export type DocumentTokens<Text extends string, Out extends readonly string[] = []> =
  SkipIgnored<Text> extends infer Rest extends string
    ? Rest extends ""
      ? Out
      : Rest extends `...${infer Behind}`
        ? DocumentTokens<Behind, [...Out, "..."]>
        : Rest extends `"""${infer Behind}`
          ? DocumentTokens<AfterBlockText<Behind>, [...Out, '""']>
          : Rest extends `"${infer Behind}`
            ? DocumentTokens<AfterText<Behind>, [...Out, '""']>
            : Rest extends `${infer First}${infer Behind}`
              ? First extends Letter | "$" | "@"
                ? TakeName<Behind, First> extends [
                    infer Name extends string,
                    infer Next extends string,
                  ]
                  ? DocumentTokens<Next, [...Out, Name]>
                  : never
                : First extends Digit | "-"
                  ? DocumentTokens<AfterNumber<Behind>, [...Out, "0"]>
                  : DocumentTokens<Behind, [...Out, First]>
              : Out
    : Out;

type Lower =
  | "a" | "b" | "c" | "d" | "e" | "f" | "g" | "h" | "i" | "j" | "k" | "l" | "m"
  | "n" | "o" | "p" | "q" | "r" | "s" | "t" | "u" | "v" | "w" | "x" | "y" | "z"; // prettier-ignore
type Letter = Lower | Uppercase<Lower> | "_";
type Digit = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";
type Blank = " " | "\n" | "\t" | "\r" | "," | "\uFEFF";

/** Whole indentations at once: the compiler counts each step. */
type SkipIgnored<Text extends string> = Text extends `        ${infer Rest}`
  ? SkipIgnored<Rest>
  : Text extends `#${string}\n${infer Rest}`
    ? SkipIgnored<Rest>
    : Text extends `#${string}`
      ? ""
      : Text extends `${infer First}${infer Rest}`
        ? First extends Blank
          ? SkipIgnored<Rest>
          : Text
        : Text;

type TakeName<Text extends string, Name extends string> = Text extends `${infer First}${infer Rest}`
  ? First extends Letter | Digit
    ? TakeName<Rest, `${Name}${First}`>
    : [Name, Text]
  : [Name, ""];

type AfterNumber<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? First extends Digit | "." | "e" | "E" | "+" | "-"
    ? AfterNumber<Rest>
    : Text
  : "";

type AfterText<Text extends string> = Text extends `${infer Head}"${infer Rest}`
  ? EndsInEscape<Head> extends true
    ? AfterText<Rest>
    : Rest
  : "";

/** Whether what follows is escaped: an odd number of backslashes. */
type EndsInEscape<Text extends string> = Text extends `${infer Head}\\`
  ? Head extends `${infer Rest}\\`
    ? EndsInEscape<Rest>
    : true
  : false;

type AfterBlockText<Text extends string> = Text extends `${infer Head}"""${infer Rest}`
  ? Head extends `${string}\\`
    ? AfterBlockText<Rest>
    : Rest
  : "";
