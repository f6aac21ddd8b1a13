/** The project's rules that are numbers and words; the layers have a table of their own. */
import type { BannedWord, SizeLimits } from "./tidy.ts";

export const sizeLimits: SizeLimits = {
  fileLinesMax: 700,
  functionLinesMax: 70,
  exceptions: {
    "dql/lexer.ts": "one state machine, read beside the grammar",
    "dql/lexer.ts:lexCall": "a flat switch over characters",
  },
};

export const bannedWords: readonly BannedWord[] = [
  { pattern: /\bDate\.now\b/, instead: "ask a Clock for the time", allowed: ["base/clock.ts"] },
  { pattern: /\bnew Date\(\)/, instead: "ask a Clock for the time", allowed: ["base/clock.ts"] },
  {
    pattern: /\bperformance\.now\b/,
    instead: "ask a Clock for the time",
    allowed: ["base/clock.ts"],
  },
  { pattern: /\bMath\.random\b/, instead: "ask a Random for chance", allowed: ["base/random.ts"] },
  {
    pattern: /\bprocess\.env\b/,
    instead: "settings come from cli/config.ts", // bundle.ts names it for the scripts of users.
    allowed: ["cli", "lambda/bundle.ts"],
  },
  { pattern: /\bconsole\.\w+\(/, instead: "tell a Logger", allowed: [] },
  { pattern: /\b(?:FIXME|TODO|XXX|HACK)\b/, instead: "do it, or write an issue", allowed: [] },
  { pattern: /^export default\b/, instead: "exports have names", allowed: [] },
];
