/** A walk over tokens, one behind the other, that knows where it is when something is wrong. */
import { must } from "../base/assert.ts";
import { Fault } from "../model/fault.ts";
import { defaultLimits, makeLimitFault, type Limits } from "../model/limits.ts";
import { quoteGo } from "../model/conversion-error.ts";
import type { Literal, Position } from "./ast.ts";
import { locate } from "../base/position.ts";
import { T, type Tokens } from "./token.ts";

export class Cursor {
  readonly tokens: Tokens;
  /** The next token. */
  index = 0;
  private depth = 0;
  private readonly depthMax: number;
  private readonly conditionsMax: number;
  private conditions = 0;
  private lastOffset = 0;
  private lastPosition: Position = { line: 1, column: 0 };

  constructor(
    tokens: Tokens,
    limits: Pick<Limits, "depthMax" | "filterConditionsMax"> = defaultLimits,
  ) {
    this.tokens = tokens;
    this.depthMax = limits.depthMax;
    this.conditionsMax = limits.filterConditionsMax;
  }

  /** The kind of the token `ahead` of the next one; `eof` beyond the last. */
  peek(ahead = 0): number {
    const i = this.index + ahead;
    return i < this.tokens.count ? (this.tokens.kinds[i] ?? T.eof) : T.eof;
  }

  peekText(ahead = 0): string {
    return this.textOf(this.index + ahead);
  }

  take(): number {
    const kind = this.peek();
    this.index++;
    return kind;
  }

  /** Takes the next token if it is of a kind. */
  takeIf(kind: number): boolean {
    if (this.peek() !== kind) return false;
    this.index++;
    return true;
  }

  /** The text of the last token taken. */
  text(): string {
    return this.textOf(this.index - 1);
  }

  textOf(index: number): string {
    const { text, starts, ends, count } = this.tokens;
    return index >= 0 && index < count ? text.slice(starts[index], ends[index]) : "";
  }

  get isAtEnd(): boolean {
    return this.index >= this.tokens.count;
  }

  /** `name`, continued by what dashes glue to it: `a-b-c`. The first part is the last token taken. */
  takeRestOfName(first: string): string {
    if (this.peek() !== T.operator) return first;
    let name = first;
    let isDashNext = true;
    for (;;) {
      const isPart = isDashNext
        ? this.peek() === T.operator && this.peekText() === "-"
        : this.peek() === T.name;
      if (!isPart) return name;
      name += this.peekText();
      this.index++;
      isDashNext = !isDashNext;
    }
  }

  /** The literal that the last token taken is. */
  literal(text: string, quoted: boolean): Literal {
    return {
      text,
      quoted,
      token: must(this.tokens.literals[this.index - 1], "a token was taken") - 1,
    };
  }

  /** `lex.Item [6] "{" at 1:4`: the last token taken, for messages. */
  describe(): string {
    const i = this.index - 1;
    const kind = this.tokens.kinds[i];
    if (i >= this.tokens.count || kind === undefined || kind === T.eof) return "EOF";
    const { line, column } = locate(
      this.tokens.text,
      must(this.tokens.starts[i], "each token has its place"),
    );
    return `lex.Item [${kind}] ${quoteGo(this.text())} at ${line}:${column}`;
  }

  /** Where the next token stands; cheap when asked in ascending order. */
  position(): Position {
    const offset = this.tokens.starts[this.index] ?? this.tokens.text.length;
    const from = offset >= this.lastOffset ? this.lastOffset : 0;
    const base = offset >= this.lastOffset ? this.lastPosition : { line: 1, column: 0 };
    const moved = locate(this.tokens.text.slice(from, offset), offset - from);
    const column = moved.line === 1 ? base.column + moved.column : moved.column;
    this.lastPosition = { line: base.line + moved.line - 1, column };
    this.lastOffset = offset;
    return this.lastPosition;
  }

  /** A refusal at the last token taken, or at another one. */
  fail(message: string, index = this.index - 1): never {
    if (index >= this.tokens.count) return failAt(message, -1, -1);
    const { line, column } = locate(
      this.tokens.text,
      must(this.tokens.starts[index], "each token has its place"),
    );
    return failAt(message, line, column);
  }

  failNext(message: string): never {
    return this.fail(message, this.index);
  }

  /** One level of nesting down. Every recursion of the parser passes here, so that no text can exhaust the stack. */
  enter(): void {
    if (++this.depth > this.depthMax) {
      throw makeLimitFault("depth", `Exceeded query depth limit = ${this.depthMax}.`);
    }
  }

  /** One condition of a filter more. Throws Fault E_LIMIT. */
  countCondition(): void {
    if (++this.conditions <= this.conditionsMax) return;
    const text = `the request has more than ${this.conditionsMax} conditions in its filters`;
    throw makeLimitFault("filter-conditions", text);
  }

  leave(): void {
    this.depth--;
  }
}

function failAt(message: string, line: number, column: number): never {
  throw new Fault("E_DQL_SYNTAX", `line ${line} column ${column}: ${message}`);
}

/** A refusal without a place. */
export function failPlainly(message: string): never {
  throw new Fault("E_DQL_SYNTAX", message);
}
