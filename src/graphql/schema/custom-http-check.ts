/** The rules of `@custom(http:)` (reference/graphql 8.2), in the order in which the reference tells what breaks them. */
import { booleanTexts, httpMethods, type CustomHttp, type HeaderPair } from "./custom-http.ts";
import { templateVariables } from "./custom-body.ts";
import { isUrl } from "./custom-url.ts";
import { baseName, findDraftField, type DraftField, type DraftType } from "./sdl-draft.ts";
import type { SchemaProblem } from "./sdl-draft.ts";
import { builtinScalars, geoTypes, isCustomField, isRootName } from "./sdl-names.ts";
import type { SdlPosition } from "./sdl-position.ts";

/** All that is wrong with a field's `http`. `at`: the directive. */
export function checkCustomHttp(
  type: DraftType,
  field: DraftField,
  http: CustomHttp,
  at: SdlPosition,
): SchemaProblem[] {
  return new HttpCheck(type, field, http, at).run();
}

class HttpCheck {
  readonly #type: DraftType;
  readonly #field: DraftField;
  readonly #http: CustomHttp;
  readonly #at: SdlPosition;
  readonly #isRoot: boolean;
  readonly #problems: SchemaProblem[] = [];

  constructor(type: DraftType, field: DraftField, http: CustomHttp, at: SdlPosition) {
    this.#type = type;
    this.#field = field;
    this.#http = http;
    this.#at = at;
    this.#isRoot = isRootName(type.name);
  }

  run(): SchemaProblem[] {
    if (!this.#checkUrl()) return this.#problems;
    this.#checkMethod();
    this.#checkMode();
    this.#checkCombination();
    this.#checkBody();
    if (!this.#checkOperation()) return this.#problems;
    if (!this.#isRoot) {
      // What names a node is stored.
      if (identifies(this.#field)) {
        this.#refuse(
          "custom directive not allowed on field of type ID! or field with @id directive.",
        );
      }
      this.#checkRequired();
    }
    this.#checkHeaders();
    return this.#problems;
  }

  /** Most are told with a semicolon, some with a colon. */
  #refuse(text: string, at = this.#at, mark: ";" | ":" = ";"): void {
    const message = `Type ${this.#type.name}; Field ${this.#field.name}${mark} ${text}`;
    this.#problems.push({ message, at });
  }

  #checkUrl(): boolean {
    const { url, urlVariables } = this.#http;
    if (url === undefined) {
      this.#refuse("url field inside @custom directive is mandatory.");
      return false;
    }
    if (!isUrl(url.text)) {
      this.#refuse("url field inside @custom directive is invalid.", url.at);
      return false;
    }
    const source = this.#isRoot ? "an argument" : "a field";
    for (const { name, place } of urlVariables) {
      const given = this.#isRoot
        ? this.#field.arguments.find((argument) => argument.name === name)
        : findDraftField(this.#type, name);
      const uses = `url ${place} inside @custom directive uses ${source} ${name}`;
      if (given === undefined) this.#refuse(`${uses} that is not defined.`, url.at);
      else if (place === "path" && !given.type.nonNull) {
        this.#refuse(`${uses} that can be null.`, url.at);
      }
    }
    return true;
  }

  #checkMethod(): void {
    const { method } = this.#http;
    if (method === undefined) this.#refuse("method field inside @custom directive is mandatory.");
    else if (!httpMethods.includes(method.text)) {
      const text = "method field inside @custom directive can only be GET/POST/PUT/PATCH/DELETE.";
      this.#refuse(text, method.at);
    }
  }

  #checkMode(): void {
    const { mode, isBatch, url, urlVariables } = this.#http;
    if (mode === undefined) return;
    if (this.#isRoot) {
      const text = "mode field inside @custom directive can't be present on Query/Mutation.";
      this.#refuse(text, mode.at);
    }
    if (mode.text !== "SINGLE" && mode.text !== "BATCH") {
      this.#refuse("mode field inside @custom directive can only be SINGLE/BATCH.", mode.at);
    }
    if (!isBatch || urlVariables.length === 0) return;
    const text =
      "has parameters in url inside @custom directive while mode is BATCH, url can't contain parameters if mode is BATCH.";
    this.#refuse(text, url?.at);
  }

  #checkCombination(): void {
    const { graphql, urlVariables, method, isBatch, body } = this.#http;
    if (graphql === undefined) return;
    if (urlVariables.length > 0) {
      const text =
        "has parameters in url along with graphql field inside @custom directive, url can't contain parameters if graphql field is present.";
      this.#refuse(text);
    }
    if (method !== undefined && method.text !== "POST") {
      const text = `has method ${method.text} while graphql field is also present inside @custom directive, method can only be POST if graphql field is present.`;
      this.#refuse(text);
    }
    if (!isBatch && body !== undefined) {
      const text =
        "has both body and graphql field inside @custom directive, they can't be present together.";
      this.#refuse(text);
    }
    if (isBatch && body === undefined) {
      const text =
        "both body and graphql field inside @custom directive are required if mode is BATCH.";
      this.#refuse(text);
    }
  }

  #checkBody(): void {
    const { body, template, templateFault } = this.#http;
    if (templateFault !== undefined) {
      const text = `body template inside @custom directive could not be parsed: ${templateFault.fault}`;
      this.#refuse(text, body?.at);
    }
    if (!this.#isRoot) return;
    for (const name of templateVariables(template)) {
      if (this.#field.arguments.some((argument) => argument.name === name)) continue;
      const text = `body template inside @custom directive uses an argument ${name} that is not defined.`;
      this.#refuse(text, body?.at);
    }
  }

  /** False where nothing more can be said. */
  #checkOperation(): boolean {
    const { graphql, operation } = this.#http;
    if (graphql === undefined || operation === undefined) return true;
    const refuse = (text: string): void => this.#refuse(text, graphql.at, ":");
    if (operation.syntaxFault !== undefined) {
      refuse(`unable to parse graphql in @custom directive because: ${operation.syntaxFault}`);
      return false;
    }
    const inside = "inside graphql in @custom directive, found";
    const [node, ...others] = operation.operations;
    if (node === undefined || others.length > 0) {
      const count = operation.operations.length;
      refuse(`${inside} ${count} operations, it can have exactly one operation.`);
      return false;
    }
    const { kind } = operation;
    if (kind === "subscription") {
      refuse(`${inside} \`subscription\` operation, it can only have query/mutation.`);
    }
    if (node.name !== undefined) {
      refuse(`${inside} operation with name \`${node.name.value}\`, it can't have a name.`);
    }
    if (this.#isRoot) {
      for (const name of operation.variables) {
        if (this.#field.arguments.some((argument) => argument.name === name)) continue;
        const text = `@custom directive, graphql variables must use fields defined within the type, found \`${name}\`.`;
        this.#refuse(text, graphql.at);
      }
    }
    if ((node.directives ?? []).length > 0) {
      refuse(`${inside} operation with directives, it can't have any directives.`);
    }
    const count = node.selectionSet.selections.length;
    if (count !== 1) {
      refuse(
        `${inside} ${count} fields inside operation \`${kind}\`, it can have exactly one field.`,
      );
    }
    return this.#checkRemoteField(refuse);
  }

  #checkRemoteField(refuse: (text: string) => void): boolean {
    const { graphql, operation, isBatch } = this.#http;
    const { kind, field } = operation ?? {};
    const inside = "inside graphql in @custom directive";
    if (field === undefined || operation === undefined) {
      refuse(`${inside}, found a fragment, it can have exactly one field.`);
      return false;
    }
    const name = field.name.value;
    if (field.alias !== undefined && field.alias.value !== name) {
      const alias = field.alias.value;
      refuse(
        `${inside}, found ${kind} \`${name}\` with alias \`${alias}\`, it can't have any alias.`,
      );
    }
    if ((field.directives ?? []).length > 0) {
      refuse(`${inside}, found ${kind} \`${name}\` with directives, it can't have any directives.`);
    }
    if (field.selectionSet !== undefined) {
      const text = `found ${kind} \`${name}\` with a selection set, it can't have any selection set.`;
      refuse(`${inside}, ${text}`);
    }
    const values = [...operation.arguments.values()];
    if (isBatch && values.length > 0 && (values.length !== 1 || values[0]?.kind !== "Variable")) {
      const text = `${kind} \`${name}\` can have only one argument whose value should be a variable.`;
      refuse(`${inside}, for BATCH mode, ${text}`);
      return false;
    }
    if (operation.argumentFault !== undefined) {
      const text = `error in parsing arguments for ${kind} \`${name}\`: ${operation.argumentFault}.`;
      refuse(`${inside}, ${text}`);
    }
    for (const used of operation.used) {
      if (operation.variables.includes(used)) continue;
      const text = `@custom directive, graphql must use fields with a variable definition, found \`${used}\`.`;
      this.#refuse(text, graphql?.at);
    }
    return true;
  }

  /** What a template takes of its parent. */
  #checkRequired(): void {
    const { body, graphql } = this.#http;
    const where = body ?? graphql;
    if (where === undefined) return;
    const place = body === undefined ? "graphql" : "body template";
    const refuse = (text: string): void =>
      this.#refuse(`@custom directive, ${place} ${text}`, where.at);
    let hasId = false;
    for (const name of requiredNames(this.#http)) {
      if (name === this.#field.name) refuse("can't require itself.");
      const given = findDraftField(this.#type, name);
      if (given === undefined) {
        refuse(`must use fields defined within the type, found \`${name}\`.`);
        continue;
      }
      const typeName = baseName(given.type);
      if (!builtinScalars.has(typeName) && !geoTypes.has(typeName)) {
        refuse(`must use scalar fields, found field \`${name}\` of type \`${typeName}\`.`);
      }
      if (isCustomField(given)) {
        const text = `can't use another field with @custom/@lambda directive, found field \`${name}\` with @custom/@lambda.`;
        refuse(text);
      }
      hasId ||= identifies(given);
    }
    if (hasId) return;
    const text = `@custom directive, ${place} must use a field with type ID! or a field with @id directive.`;
    this.#refuse(text, where.at, ":");
  }

  #checkHeaders(): void {
    const { body, graphql, skipIntrospection: skip } = this.#http;
    const where = body ?? graphql;
    if (where !== undefined) {
      if (skip !== undefined && !booleanTexts.has(skip.text)) {
        const text = `skipIntrospection in @custom directive can only be true/false, found: \`${skip.text}\`.`;
        this.#refuse(text, where.at);
      }
      if (!this.#checkHeaderForms(where.at)) return;
    }
    const { forwardHeaders, secretHeaders, introspectionHeaders } = this.#http;
    for (const { remote } of [...forwardHeaders, ...secretHeaders, ...introspectionHeaders]) {
      const fault = headerFault(remote);
      if (fault !== undefined) this.#refuse(fault, where?.at);
    }
  }

  #checkHeaderForms(at: SdlPosition): boolean {
    const { forwardHeaders, secretHeaders, introspectionHeaders } = this.#http;
    const refuseOdd = (name: string, pairs: readonly HeaderPair[]): boolean => {
      const odd = pairs.find(({ isOdd }) => isOdd);
      if (odd === undefined) return false;
      const text = `${name} in @custom directive should be of the form 'remote_headername:local_headername' or just 'headername', found: \`${odd.written}\`.`;
      this.#refuse(text, at);
      return true;
    };
    if (refuseOdd("forwardHeaders", forwardHeaders)) return false;
    if (refuseOdd("secretHeaders", secretHeaders)) return false;
    const forwarded = new Set(forwardHeaders.map(({ remote }) => remote.toLowerCase()));
    const both = secretHeaders.find(({ remote }) => forwarded.has(remote.toLowerCase()));
    if (both !== undefined) {
      const text = `secretHeaders and forwardHeaders in @custom directive cannot have overlapping headers, found: \`${both.written}\`.`;
      this.#refuse(text, at);
      return false;
    }
    return !refuseOdd("introspectionHeaders", introspectionHeaders);
  }
}

export function identifies(field: DraftField): boolean {
  return baseName(field.type) === "ID" || field.directives.id !== undefined;
}

/** What a request needs of its parent, the variables of the URL apart. */
function requiredNames({ graphql, isBatch, operation, template }: CustomHttp): readonly string[] {
  if (graphql !== undefined && !isBatch) return operation?.variables ?? [];
  return templateVariables(template);
}

/** Fields of its parent that a request is made of. */
export function neededNames(http: CustomHttp): readonly string[] {
  return [...requiredNames(http), ...http.urlVariables.map(({ name }) => name)];
}

/** Of the connection and the length of a message, which the server itself decides. */
const ownHeaders: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "accept-encoding",
  "keep-alive",
  "proxy-connection",
  "expect",
  "te",
  "trailer",
  "upgrade",
]);

function headerFault(name: string): string | undefined {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
    return `\`${name}\` in @custom directive is not the name of a header.`;
  }
  if (!ownHeaders.has(name.toLowerCase())) return undefined;
  return `the header \`${name}\` in @custom directive is the server's own to set.`;
}
