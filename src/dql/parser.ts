/** DQL text → tree (reference/dql 4.1, 4.2, 2.8), with the functions that it is given; `exec/dql.ts` gives all. */
import { Fault } from "../model/fault.ts";
import { makeLimitFault } from "../model/limits.ts";
import type { Block, Filter, QueryDocument, SchemaRequest } from "./ast.ts";
import { assembleBlock, FragmentTable, type ParseLimits } from "./assembly.ts";
import { type BlockDraft, parseBlock } from "./block-parser.ts";
import { type Reading, unquoted } from "./call-parser.ts";
import { Cursor, failPlainly } from "./cursor.ts";
import { makeDraft } from "./draft.ts";
import type { FunctionSyntaxes } from "./functions.ts";
import { parseFields } from "./field-parser.ts";
import { parseFilter } from "./filter-parser.ts";
import { lex, releaseTokens } from "./lexer.ts";
import { ParameterTable } from "./parameters.ts";
import { parseSchemaRequest } from "./schema-request-parser.ts";
import { T } from "./token.ts";
import { checkDqlVariables, collectFilter, collectVariables } from "./variables.ts";

/** What a text is read with. */
export interface ParseOptions {
  readonly functions: FunctionSyntaxes;
  readonly limits: ParseLimits;
}

/**
 * One query request. `variables` are the values of query variables by name, `$` included. Everything that the text
 * alone decides is checked: syntax, fragments, query variables and their types, variables defined and used, and the
 * names of blocks. Throws Fault E_DQL_SYNTAX with the reference's texts (reference/dql 6), or E_LIMIT.
 */
export function parseQueryText(
  text: string,
  variables: ReadonlyMap<string, string>,
  options: ParseOptions,
): QueryDocument {
  const parsed = parseDocument(text, variables, options);
  if (parsed.blocks.length > 0) checkDqlVariables(collectVariables(parsed.blocks));
  checkNames(parsed.blocks);
  return parsed;
}

/** The query of an upsert; its conditions as written, "" for none; the variables that the facts name. */
export interface UpsertText {
  readonly query: string;
  readonly conditions: readonly string[];
  readonly uses: readonly string[];
  /** Of the query, by name; undefined for none. */
  readonly variables?: ReadonlyMap<string, string> | undefined;
}

/**
 * The query of an upsert with the conditions (`@if(…)`, "" for none) of its mutations, which may name its variables.
 * `uses` are the variables that the facts of the mutations name. A missing last `}` of the query is forgiven, as the
 * reference does. Conditions that are blank or empty are undefined: always true.
 */
export function parseUpsertText(
  upsert: UpsertText,
  options: ParseOptions,
): { query: QueryDocument; conditions: readonly (Filter | undefined)[] } {
  for (const condition of upsert.conditions) checkCondition(condition);
  const trimmed = upsert.query.trim();
  const text = trimmed.endsWith("}") ? trimmed : trimmed + "}";
  const query = parseDocument(text, upsert.variables ?? new Map(), options);
  const use = collectVariables(query.blocks);
  use.used.push(...upsert.uses);
  const conditions = upsert.conditions.map((condition, i) => {
    if (condition.trim() === "") return undefined;
    const filter = parseConditionText(condition, options);
    // The reference evaluates a condition as a variable of its own, which its messages list.
    use.defined.push(`__dgraph_upsertcheck_${i}__`);
    use.used.push(`__dgraph_upsertcheck_${i}__`);
    if (filter !== undefined) collectFilter(filter, use);
    return filter;
  });
  checkDqlVariables(use);
  checkNames(query.blocks);
  return { query, conditions };
}

/**
 * `@if(…)` or `@filter(…)` in any case → its filter; undefined where nothing stands between the brackets. Its literals
 * have no tokens: those are the query's own.
 */
export function parseConditionText(
  condition: string,
  { functions, limits }: ParseOptions,
): Filter | undefined {
  checkCondition(condition);
  const opening = condition.indexOf("(");
  if (opening < 0) return undefined;
  // As the filter of a block, so that the lexer knows where it stands.
  const text = `{q()@filter${condition.slice(opening)}}`;
  const tokens = lex(text, functions);
  tokens.literals.fill(0);
  const cursor = new Cursor(tokens, limits);
  cursor.index = 6;
  return parseFilter({ cursor, parameters: new ParameterTable(new Map()), functions });
}

/** Refuses what is not one `@if(…)` or `@filter(…)` with nothing behind it; blank is fine. */
function checkCondition(condition: string): void {
  const trimmed = condition.trim();
  if (trimmed === "") return;
  const head = /^@(?:if|filter)\s*\(/i.exec(trimmed);
  if (head === null) failCondition("must start with @if( or @filter(");
  const end = findClosing(trimmed, head[0].length - 1);
  if (end < 0) failCondition("unbalanced parentheses");
  if (trimmed.slice(end + 1).trim() !== "") failCondition("unexpected content after condition");
}

function failCondition(reason: string): never {
  throw new Fault("E_MUTATION", `invalid cond value: ${reason}`);
}

/** The bracket that closes the one at `opening`, outside of quotes; −1 for none. */
function findClosing(text: string, opening: number): number {
  let depth = 0;
  let isQuoted = false;
  for (let i = opening; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 92) i++;
    else if (code === 34) isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (code === 40) depth++;
    else if (code === 41 && --depth === 0) return i;
  }
  return -1;
}

function parseDocument(
  text: string,
  variables: ReadonlyMap<string, string>,
  { functions, limits }: ParseOptions,
): QueryDocument {
  const tokens = lex(text.trim(), functions);
  checkLength(tokens.count, limits);
  const cursor = new Cursor(tokens, limits);
  const parameters = new ParameterTable(variables, limits);
  const request = new RequestParser({ cursor, parameters, functions }, limits);
  request.parse();
  releaseTokens(tokens);
  const blocks = request.assemble();
  parameters.substitute();
  const query = parameters.toQueryParameters();
  const { schema } = request;
  return query === undefined ? { blocks, schema } : { blocks, schema, parameters: query };
}

function checkLength(tokens: number, { documentTokensMax }: ParseLimits): void {
  if (tokens <= documentTokensMax) return;
  throw makeLimitFault("document-tokens", `the request has more than ${documentTokensMax} tokens`);
}

/** The parts of a request in their order. */
class RequestParser {
  schema: SchemaRequest | undefined;
  private readonly reading: Reading;
  private readonly blocks: BlockDraft[] = [];
  private readonly fragments: FragmentTable;
  private readonly blocksMax: number;

  constructor(reading: Reading, limits: ParseLimits) {
    this.reading = reading;
    this.fragments = new FragmentTable(limits);
    this.blocksMax = limits.documentRootsMax;
  }

  parse(): void {
    const { cursor } = this.reading;
    while (!cursor.isAtEnd) {
      switch (cursor.take()) {
        case T.operation:
          this.parseOperation();
          break;
        case T.leftCurl:
          this.parseNextBlock();
          break;
        case T.name:
          cursor.index--;
          this.parseNextBlock();
          break;
        default:
        // Closing braces and the end.
      }
    }
  }

  assemble(): Block[] {
    return this.blocks.map((block) => assembleBlock(block, this.fragments));
  }

  private parseNextBlock(): void {
    if (this.blocks.length >= this.blocksMax) {
      const text = `the request has more than ${this.blocksMax} blocks`;
      throw makeLimitFault("document-roots", text);
    }
    this.blocks.push(parseBlock(this.reading));
  }

  private parseOperation(): void {
    const { cursor } = this.reading;
    switch (cursor.text()) {
      case "mutation":
        return cursor.fail("Mutation block no longer allowed.");
      case "schema":
        if (this.schema !== undefined) cursor.fail("Only one schema block allowed ");
        if (this.blocks.length > 0) cursor.fail("Schema block is not allowed with query block");
        this.schema = parseSchemaRequest(cursor);
        return;
      case "fragment":
        return this.parseFragment();
      case "query":
        if (this.schema !== undefined) {
          cursor.fail("Schema block is not allowed with query block");
        }
        return this.parseNamed();
    }
  }

  /** `fragment name { … }`; the keyword was taken. */
  private parseFragment(): void {
    const { cursor } = this.reading;
    let name = "";
    for (;;) {
      const kind = cursor.take();
      if (kind === T.leftCurl) break;
      if (kind !== T.name) {
        cursor.fail(`Unexpected item in fragment: ${kind} ${cursor.text()}`);
      }
      if (name === "") name = cursor.text().trim();
    }
    if (name === "") cursor.failNext("Empty fragment name");
    const draft = makeDraft("block", { name, alias: undefined, variable: undefined }, undefined);
    parseFields(this.reading, draft);
    this.fragments.add(draft);
  }

  /** `query name($a: int) { …`; the keyword was taken. Further blocks follow as those of any request. */
  private parseNamed(): void {
    const { cursor, parameters } = this.reading;
    let name = "";
    while (!cursor.isAtEnd) {
      switch (cursor.take()) {
        case T.name:
          if (name !== "") cursor.fail("Multiple word query name not allowed.");
          name = cursor.text();
          break;
        case T.leftRound:
          if (name === "") cursor.fail("Variables can be defined only in named queries.");
          parseDeclarations(cursor, parameters);
          parameters.check();
          break;
        case T.leftCurl:
          this.parseNextBlock();
          return;
        default:
        // What the lexer lets through here means nothing.
      }
    }
  }
}

/** `$a: int = 3, $b: string!`; the opening bracket was taken. */
function parseDeclarations(cursor: Cursor, parameters: ParameterTable): void {
  if (cursor.takeIf(T.rightRound)) return;
  let expectsName = true;
  while (!cursor.isAtEnd) {
    const kind = cursor.take();
    if (kind === T.rightRound || kind === T.comma) {
      if (expectsName) cursor.fail("Invalid comma in var block");
      if (kind === T.rightRound) return;
      expectsName = true;
      continue;
    }
    if (kind !== T.dollar) {
      cursor.fail(`Unexpected item in place of variable. Got: ${cursor.describe()} false`);
    }
    if (!expectsName) cursor.fail("Missing comma in var declaration");
    parseDeclaration(cursor, parameters);
    if (cursor.peek(-1) === T.rightRound) return;
    expectsName = false;
  }
}

/** Behind `$`. Takes the closing bracket too where it follows the type at once. */
function parseDeclaration(cursor: Cursor, parameters: ParameterTable): void {
  if (cursor.take() !== T.name) {
    cursor.fail(`Expecting a variable name. Got: ${cursor.describe()}`);
  }
  const name = "$" + cursor.text();
  if (cursor.take() !== T.colon) cursor.fail(`Expecting a colon. Got: ${cursor.describe()}`);
  if (cursor.take() !== T.name) {
    cursor.fail(`Expecting a variable type. Got: ${cursor.describe()}`);
  }
  let type = cursor.text();
  if (cursor.peek() === T.operator && cursor.peekText() === "!") {
    cursor.take();
    type += "!";
  }
  parameters.declare(name, type);
  if (cursor.takeIf(T.equal)) {
    const equal = cursor.index - 1;
    if (cursor.take() !== T.name) {
      cursor.index = equal + 1;
      cursor.fail(`Expecting default value of a variable. Got: ${cursor.describe()}`);
    }
    if (type.endsWith("!")) {
      cursor.fail(`Type ending with ! can't have default value: Got: ${type}`, equal);
    }
    parameters.setDefault(name, unquoted(cursor.text()).text);
    return;
  }
  cursor.takeIf(T.rightRound);
}

function checkNames(blocks: readonly Block[]): void {
  const seen = new Set<string>();
  for (const { name } of blocks) {
    if (name === "var" || name === "shortest") continue;
    if (seen.has(name)) failPlainly(`Duplicate aliases not allowed: ${name}`);
    seen.add(name);
  }
}
