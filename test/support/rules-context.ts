/** Users with memos, plans and rules, for tests of who may see and change what (reference/graphql 6). */
import { expect } from "vitest";
import { must } from "../../src/base/assert.ts";
import { openGraphqlContext, type GraphqlContext } from "./graphql-context.ts";
import { testNamespace, testSecret, tokenOf } from "./tokens.ts";

export const mine = (type: string, path: string): string =>
  `{ rule: "query($USER: String!) { query${type} ${path} }" }`;
const ownedBy = (type: string): string =>
  mine(type, "{ owner(filter: {handle: {eq: $USER}}) { handle } }");
export const admin = '{ rule: "{$ROLE: {eq: \\"ADMIN\\"}}" }';

export const sdl = `
  type User @secret(field: "pin") @auth(
    query: { or: [${mine("User", "(filter: {handle: {eq: $USER}}) { handle }")}, ${admin}] }
    update: { or: [${mine("User", "(filter: {handle: {eq: $USER}}) { handle }")}, ${admin}] }
    password: ${mine("User", "(filter: {handle: {eq: $USER}}) { handle }")}
  ) { handle: String! @id  city: String @search(by: [exact])  docs: [Doc] @hasInverse(field: owner)  all: [Any]  twin: User @hasInverse(field: twin) }
  interface Doc { id: ID!  title: String! @search(by: [exact])  owner: User }
  type Memo implements Doc @auth(
    query: { or: [{ rule: "query { queryMemo(filter: {open: true}) { id } }" }, ${ownedBy("Memo")}, ${admin}] }
    add: ${ownedBy("Memo")}
    update: ${ownedBy("Memo")}
    delete: ${admin}
  ) { open: Boolean @search  pages: Int @search  code: String @id  plans: [Plan] }
  type Plan implements Doc { size: Int @search  memo: Memo  memos: [Memo] }
  union Any = Memo | Plan
  # Dgraph.Authorization {"VerificationKey":"${testSecret}","Header":"X-Auth","Namespace":"${testNamespace}","Algo":"HS256"}
`;

let context: GraphqlContext | undefined;

/** What is open. */
export const opened = (): GraphqlContext => must(context, "a test opens it first");

/** Without rules, for what the tests prepare and look at. */
async function prepare({ engine }: GraphqlContext): Promise<void> {
  await engine.mutate({
    namespace: 0,
    body: {
      kind: "rdf",
      text: `{ set {
        <0x1> <dgraph.type> "User" . <0x1> <User.handle> "ann" . <0x1> <User.city> "Rome" . <0x1> <User.pin> "annpin1" .
        <0x2> <dgraph.type> "User" . <0x2> <User.handle> "bob" . <0x2> <User.city> "Oslo" . <0x2> <User.pin> "bobpin1" .
        ${memo("0x11", "ann's", "0x1", "false", 1)} ${memo("0x12", "bob's", "0x2", "false", 20)} ${memo("0x13", "open", "0x2", "true", 3)}
        <0x12> <Memo.code> "SECRET" .
        <0x21> <dgraph.type> "Plan" . <0x21> <dgraph.type> "Doc" . <0x21> <Doc.title> "plan" . <0x21> <Doc.owner> <0x2> . <0x2> <User.docs> <0x21> .
        <0x21> <Plan.memo> <0x12> . <0x21> <Plan.memos> <0x11> . <0x21> <Plan.memos> <0x12> . <0x21> <Plan.memos> <0x13> . <0x21> <Plan.size> "7" .
        <0x1> <User.all> <0x11> . <0x1> <User.all> <0x12> . <0x1> <User.all> <0x21> . <0x1> <User.docs> <0x12> .
      } }`.replaceAll(" . ", " .\n"),
    },
    startTs: 0,
    commitNow: true,
    timeoutMs: 0,
  });
}

function memo(id: string, title: string, owner: string, open: string, pages: number): string {
  return `<${id}> <dgraph.type> "Memo" . <${id}> <dgraph.type> "Doc" . <${id}> <Doc.title> "${title}" . <${id}> <Memo.open> "${open}" .
    <${id}> <Memo.pages> "${pages}" . <${id}> <Doc.owner> <${owner}> . <${owner}> <User.docs> <${id}> .`;
}

export async function open(): Promise<void> {
  await openWith(sdl);
  await prepare(opened());
}

/** With nothing prepared. */
export async function openWith(schema: string): Promise<void> {
  context = await openGraphqlContext(schema);
}

export const close = (): Promise<void> => opened().close();

export type Claims = Readonly<Record<string, unknown>>;

export const ann: Claims = { USER: "ann" };
export const bob: Claims = { USER: "bob" };
export const boss: Claims = { ROLE: "ADMIN" };

export interface Answer {
  readonly data?: Readonly<Record<string, unknown>>;
  readonly errors?: readonly { readonly message: string }[];
}

export async function ask(
  claims: Claims | undefined,
  query: string,
  variables?: unknown,
): Promise<Answer> {
  const headers = claims === undefined ? {} : { "x-auth": tokenOf(claims) };
  return (await opened().send(JSON.stringify({ query, variables }), headers)) as Answer;
}

export async function data(claims: Claims | undefined, query: string): Promise<Answer["data"]> {
  const answer = await ask(claims, query);
  expect(answer.errors).toBe(undefined);
  return answer.data;
}

export async function expectRefused(claims: Claims | undefined, mutation: string): Promise<void> {
  const answer = await ask(claims, mutation);
  expect(answer.errors?.map((error) => error.message)).toEqual([
    "mutation failed because authorization failed",
  ]);
  expect(Object.values(answer.data ?? {})).toEqual([null]);
}

export const titles = (value: unknown): unknown =>
  (value as { title: string }[]).map(({ title }) => title).sort();
