import { lexShape, parseQuery } from "../src/exec/dql.ts";
import type { BenchFile } from "./harness.ts";

const small = `{ q(func: eq(code, "W-001")) { uid name } }`;

const typical = `query films($name: string = "Jane", $n: int = 10) {
  var(func: allofterms(name@en, $name)) @filter(has(director.film) AND NOT eq(age, 5)) {
    films as director.film @filter(ge(initial_release_date, "1990-01-01"))
  }
  list(func: uid(films), orderdesc: initial_release_date, first: $n) {
    uid
    title: name@en
    genre (first: 3) { name@en }
    starring @facets(order) { performance.actor { name@en:. } }
    count(starring)
  }
}`;

/** Requests of every day, from text to tree and to shape. */
export const benches: BenchFile = (size) => [
  {
    name: "parse a small query",
    count: size,
    run: () => {
      for (let i = 0; i < size; i++) parseQuery(small, new Map());
    },
  },
  {
    name: "parse a typical query",
    count: size,
    run: () => {
      for (let i = 0; i < size; i++) parseQuery(typical, new Map());
    },
  },
  {
    name: "lift the literals of a small query",
    count: size,
    run: () => {
      for (let i = 0; i < size; i++) lexShape(small);
    },
  },
];
