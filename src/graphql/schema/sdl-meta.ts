import { parseAuthorization } from "../../auth/authorization.ts";
import { Fault } from "../../model/fault.ts";
import type { SchemaMeta } from "./compiled-schema.ts";

/**
 * Reads the `# Dgraph.…` comment lines (reference/graphql 1.6). Their keys: Authorization (once), Allow-Origin, Secret.
 * Throws E_GRAPHQL_SCHEMA for a malformed one, before anything else is looked at.
 */
export function parseMetaLines(sdl: string): SchemaMeta {
  let authorization: string | undefined;
  const allowOrigins: string[] = [];
  const secrets = new Map<string, string>();
  for (const raw of sdl.split("\n")) {
    const line = raw.trim();
    if (!line.startsWith("#")) continue;
    const header = line.slice(1).trim();
    if (header.startsWith("Dgraph.Authorization")) {
      if (authorization !== undefined)
        throw refuse(
          `Dgraph.Authorization should be only be specified once in a schema, found second mention: ${line}`,
        );
      authorization = line;
    } else if (header.startsWith("Dgraph.Allow-Origin")) {
      allowOrigins.push(parseOrigin(line));
    } else if (header.startsWith("Dgraph.Secret")) {
      const [key, value] = parseSecret(line);
      secrets.set(key, value);
    }
  }
  return {
    authorization: authorization === undefined ? undefined : parseAuthorization(authorization),
    allowOrigins,
    secrets,
  };
}

/** Three words between blanks, the last one a JSON string. */
function parseOrigin(line: string): string {
  const words = line.split(/\s+/);
  const origin = words.length === 3 ? parseJsonString(words[2] ?? "") : undefined;
  if (origin === undefined)
    throw refuse(
      `incorrect format for specifying Dgraph.Allow-Origin found for comment: \`${line}\`, ` +
        'it should be `# Dgraph.Allow-Origin "http://example.com"`',
    );
  return origin;
}

/** `# Dgraph.Secret key "a value"`: the value in exactly two double quotes. */
function parseSecret(line: string): [key: string, value: string] {
  const words = line.split(/\s+/);
  const value = words.slice(3).join(" ");
  const isQuoted =
    value.length >= 2 &&
    value.startsWith('"') &&
    value.endsWith('"') &&
    !value.slice(1, -1).includes('"');
  if (words.length < 4 || !isQuoted)
    throw refuse(
      `incorrect format for specifying Dgraph secret found for comment: \`${line}\`, ` +
        "it should be `# Dgraph.Secret key value`",
    );
  return [(words[2] ?? "").replace(/^"+|"+$/g, ""), value.slice(1, -1)];
}

function parseJsonString(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function refuse(message: string): Fault {
  return new Fault("E_GRAPHQL_SCHEMA", message);
}
