/** Rules about the caller alone: `{ $ROLE: { eq: "ADMIN" } }` (reference/graphql 6.3). */
import { RE2JS, RE2JSSyntaxException } from "re2js";
import type { Claims, ClaimValue } from "./token.ts";

/** What is wrong with a rule; the message names the part. */
export class RuleFault extends Error {
  override readonly name = "RuleFault";
}

export interface RoleRule {
  /** Without `$`. */
  readonly variable: string;
  readonly holds: (value: ClaimValue) => boolean;
}

const form = /^\{\s?(?<variable>.*?)\s?:\s?\{\s?(?<operator>\w*)\s?:\s?(?<value>.*)\s?\}\s?\}$/;

/** Throws RuleFault. */
export function parseRoleRule(text: string): RoleRule {
  const groups = form.exec(text)?.groups;
  if (groups === undefined) throw new RuleFault(`\`${text}\` is not a valid rule.`);
  const variable = groups["variable"] ?? "";
  const value = readJson(groups["value"] ?? "");
  if (value === undefined || !variable.startsWith("$"))
    throw new RuleFault(`\`${variable}\` is not a valid GraphQL variable.`);
  return { variable: variable.slice(1), holds: makeTest(groups["operator"] ?? "", value) };
}

/** A claim that is a list holds where any of its elements does; one that is missing never. */
export function holdsRole(rule: RoleRule, claims: Claims): boolean {
  const value = claims.get(rule.variable);
  if (value === undefined || value === null) return false;
  return isList(value) ? value.some(rule.holds) : rule.holds(value);
}

function makeTest(operator: string, value: ClaimValue): (claim: ClaimValue) => boolean {
  const invalid = (detail: string): RuleFault =>
    new RuleFault(`\`${operator}\` operator has invalid value${detail}`);
  const quoted = ` \`${printValue(value)}\`. `;
  switch (operator) {
    case "eq":
      if (value === null) throw invalid(". null values aren't supported.");
      return (claim) => claim === value;
    case "in": {
      if (!isList(value)) throw invalid(`${quoted}Value should be an array.`);
      return (claim) => value.includes(claim);
    }
    case "regexp": {
      if (typeof value !== "string") throw invalid(`${quoted}Value should be of type String.`);
      const expression = compile(value);
      return (claim) => typeof claim === "string" && expression.test(claim);
    }
    default:
      throw new RuleFault(`\`${operator}\` operator is not supported.`);
  }
}

/** Linear in the length of the claim, whatever the expression. */
function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    throw new RuleFault(error.message);
  }
}

function readJson(text: string): ClaimValue | undefined {
  try {
    return JSON.parse(text) as ClaimValue;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function printValue(value: ClaimValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isList(value: ClaimValue): value is readonly ClaimValue[] {
  return Array.isArray(value);
}
