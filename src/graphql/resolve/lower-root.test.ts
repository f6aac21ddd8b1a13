/** Root queries as trees, printed as DQL (reference/graphql 4.5 – 4.8, 4.13). */
import { describe, expect, test } from "vitest";
import { printQuery } from "../../dql/print.ts";
import { makeLowerContext } from "./lower-context.ts";
import { lowerRoot, lowerRootParts, shapeOfRoot } from "./lower-root.ts";
import { collectSites } from "./lower-selection.ts";
import { lowerSite } from "./lower-site.ts";
import { rootFieldOf } from "./query-root.ts";
import { evaluateArguments } from "../operation/arguments.ts";
import { defaultLimits } from "../../model/limits.ts";
import { RequestCache } from "../operation/cache.ts";
import type { JsonObject } from "../operation/json.ts";
import { compileSchema } from "../service/schema-compile.ts";

const schema = compileSchema(`
  enum Mood { CALM WILD }
  type Post { id: ID!  title: String! @id @search(by: [exact, term, regexp])  score: Float @search  tags: [String] @search(by: [hash])
    at: DateTime @search  hot: Boolean @search  mood: Mood @search  place: Point @search  author: Author @hasInverse(field: posts) }
  type Author { id: ID!  name: String! @search(by: [hash])  posts: [Post]  nameFr: String @dgraph(pred: "Author.name@fr") @search(by: [exact])
 }
`);

function lower(
  query: string,
  variables: JsonObject = {},
): { readonly dql: string; readonly shape: string; readonly texts: readonly string[] } {
  const run = new RequestCache(schema, defaultLimits).prepare({
    query,
    variables,
    operationName: "",
    extensions: undefined,
  });
  const field = run.roots[0]!;
  const root = rootFieldOf(schema, "query", field.definition)!;
  const context = makeLowerContext(undefined);
  const values = evaluateArguments(field.node.arguments ?? [], root.arguments, run.values);
  const parts = lowerRootParts(context, root, field, values, run.values);
  const selected: Parameters<typeof collectSites>[1] = [];
  collectSites(field.selection, selected, undefined);
  const sites = new Map(selected.map((site) => [site, lowerSite(context, site, run.values)]));
  const { document } = lowerRoot(root, field, parts, sites);
  return {
    dql: printQuery(document),
    shape: shapeOfRoot(parts, [...sites.values()]),
    texts: context.texts,
  };
}

function filterOf(filter: string): string {
  const { dql } = lower(`{ queryPost(filter: ${filter}) { id } }`);
  return /@filter\((?<filter>.*)\)/.exec(dql)?.groups?.["filter"] ?? "";
}

describe("filters", () => {
  test.each([
    ['{title: {eq: "a"}, hot: true}', 'eq(Post.title, "a") AND eq(Post.hot, true)'],
    ['{title: {eq: "a"}, or: {hot: false}}', 'eq(Post.title, "a") OR eq(Post.hot, false)'],
    [
      '{title: {eq: "a"}, hot: true, or: [{score: {gt: 1}}]}',
      '(eq(Post.title, "a") AND eq(Post.hot, true)) OR gt(Post.score, 1)',
    ],
    ["{or: [{hot: true}], and: [{score: {le: 1.5}}]}", "le(Post.score, 1.5) OR eq(Post.hot, true)"],
    [
      "{hot: true, and: {or: [{score: {lt: 1}}, {score: {ge: 9}}]}}",
      "eq(Post.hot, true) AND (lt(Post.score, 1) OR ge(Post.score, 9))",
    ],
    ["{not: {has: [score, tags]}}", "NOT (has(Post.score) AND has(Post.tags))"],
    ["{score: {eq: null}}", "NOT (has(Post.score))"],
    ["{score: {le: null}, not: {}, or: [], and: null}", ""],
    ["{score: {between: {min: 1, max: 2}}}", "between(Post.score, 1, 2)"],
    ['{tags: {in: ["a", null]}}', 'eq(Post.tags, "a") OR NOT (has(Post.tags))'],
    ['{title: {regexp: "/^a.b/i"}}', "regexp(Post.title, /^a.b/i)"],
    ['{title: {allofterms: "a b"}}', 'allofterms(Post.title, "a b")'],
    ["{mood: {in: CALM}}", 'eq(Post.mood, "CALM")'],
    ['{hot: true, and: {id: ["0x1", "nope"]}}', "eq(Post.hot, true) AND uid(0x1)"],
    [
      "{place: {near: {coordinate: {longitude: 1.5, latitude: -2}, distance: 30}}}",
      "near(Post.place, [1.5,-2], 30)",
    ],
  ])("%s", (filter, printed) => {
    expect(filterOf(filter)).toBe(printed);
  });
});

describe("trees", () => {
  test("a page in order, with an edge", () => {
    const { dql } = lower(
      '{ queryPost(order: {desc: score, then: {asc: title}}, first: 3, offset: 1) { title author(filter: {nameFr: {eq: "x"}}) { name } } }',
    );
    expect(dql).toMatchInlineSnapshot(`
      "{
        q(func: type(Post), first: 3, offset: 1, orderdesc: Post.score, orderasc: Post.title) {
          c0: Post.title
          c1: Post.author @filter(eq(Author.name@fr, "x")) {
            c0: Author.name
          }
        }
      }
      "
    `);
  });

  test("ids at the top are the candidates, whatever stands beside them", () => {
    expect(lower('{ queryPost(filter: {id: ["0x5", "x"], or: {hot: true}}) { id } }').dql)
      .toMatchInlineSnapshot(`
      "{
        q(func: uid(0x5)) @filter(type(Post) AND eq(Post.hot, true)) {
        }
      }
      "
    `);
  });

  test("one node by all its ids", () => {
    expect(lower('{ getPost(id: "0x1", title: "a") { id } }').dql).toMatchInlineSnapshot(`
      "{
        q(func: uid(0x1)) @filter(type(Post) AND eq(Post.title, "a")) {
        }
      }
      "
    `);
  });

  test("@cascade is told level by level", () => {
    expect(lower('{ queryAuthor @cascade(fields: ["posts"]) { name posts { title score } } }').dql)
      .toMatchInlineSnapshot(`
      "{
        q(func: type(Author)) @cascade(Author.posts) {
          c0: Author.name
          c1: Author.posts @cascade(uid) {
            c0: Post.title
            c1: Post.score
          }
        }
      }
      "
    `);
    expect(lower("{ queryAuthor @cascade { id posts { title } } }").dql).toMatchInlineSnapshot(`
      "{
        q(func: type(Author)) @cascade(Author.posts) {
          c0: Author.posts @cascade(Post.title) {
            c0: Post.title
          }
        }
      }
      "
    `);
  });

  test("aggregates: a count is read from heads, values through the edge", () => {
    expect(lower("{ aggregatePost { count scoreMax scoreMin titleMin } }").dql)
      .toMatchInlineSnapshot(`
      "{
        q(func: type(Post)) {
          count: count(uid)
          v0 as v0: Post.score
          v1 as v1: Post.title
        }
        a() {
          a0: max(val(v0))
          a1: min(val(v0))
          a2: min(val(v1))
        }
      }
      "
    `);
    expect(lower("{ queryAuthor { postsAggregate { count } b: postsAggregate { scoreSum } } }").dql)
      .toMatchInlineSnapshot(`
      "{
        q(func: type(Author)) {
          c0: count(Author.posts)
          c1: Author.posts {
            a0: Post.score
          }
        }
      }
      "
    `);
  });
});

describe("shapes", () => {
  test("literals do not show, everything else does", () => {
    const shapeOf = (query: string, variables?: JsonObject): string =>
      lower(query, variables).shape;
    const base = shapeOf('{ queryPost(filter: {title: {eq: "a"}}, first: 1) { id } }');
    expect(shapeOf('{ queryPost(filter: {title: {eq: "b"}}, first: 9) { id } }')).toBe(base);
    expect(
      shapeOf(
        "query($t: String, $n: Int) { queryPost(filter: {title: {eq: $t}}, first: $n) { id } }",
        { t: "c", n: 4 },
      ),
    ).toBe(base);
    const others = [
      '{ queryPost(filter: {title: {ge: "a"}}, first: 1) { id } }',
      "{ queryPost(filter: {title: {eq: null}}, first: 1) { id } }",
      '{ queryPost(filter: {title: {in: ["a", "b"]}}, first: 1) { id } }',
      '{ queryPost(filter: {title: {eq: "a"}}, offset: 1) { id } }',
      '{ queryPost(filter: {title: {eq: "a"}}, first: 1, order: {asc: score}) { id } }',
      '{ queryPost(filter: {not: {title: {eq: "a"}}}, first: 1) { id } }',
    ];
    const shapes = new Set([base, ...others.map((query) => shapeOf(query))]);
    expect(shapes.size).toBe(others.length + 1);
  });
});
