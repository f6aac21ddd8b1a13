/**
 * Goal: what each form of the language is read as, or the words in which it is refused. A reading is printed as a query
 * again: "the same" where it is the text. Refusals begin with "!".
 */
import { describe, expect, test } from "vitest";
import { readExpectations } from "../../test/support/expectation-table.ts";
import { parseQuery } from "../exec/dql.ts";
import { Fault } from "../model/fault.ts";
import { printQuery } from "./print.ts";

const readings = String.raw`
# arguments of a block: a page, orders, each once; a sign belongs to the number behind it
{ q(func: has(a), first: 3, offset: 2, after: 0x5) { a } }
  the same
{ q(func: has(a), first: -3) { a } }
  the same
{ q(func: has(a), first: +3) { a } }
  the same
{ q(func: has(a), first: - 3) { a } }
  { q(func: has(a), first: -3) { a } }
{ q(func: has(a), first: --3) { a } }
  ! line 1 column 27: Not expecting argument. Got: lex.Item [9] "3" at 1:27
{ q(func: has(a), first: x) { a } }
  the same
{ q(func: has(a), first: "3") { a } }
  the same
{ q(func: has(a), first: 3, first: 4) { a } }
  ! line 1 column 36: Repeated key "first" at root
{ q(func: has(a), first) { a } }
  ! line 1 column 23: Expecting a colon. Got: lex.Item [12] ")" at 1:23
{ q(func: has(a), first: ) { a } }
  ! line 1 column 27: Expecting argument name. Got: lex.Item [6] "{" at 1:27
{ q(func: has(a) first: 3) { a } }
  ! line 1 column 17: Not expecting argument. Got: lex.Item [9] "first" at 1:17
{ q(func: has(a),, first: 3) { a } }
  ! while lexing { q(func: has(a),, first: 3) { a } } at line 1 column 17: Consecutive commas not allowed.
{ q(func: has(a), nosuch: 3) { a } }
  ! line 1 column 18: Got invalid keyword: nosuch at root
{ q(func: has(a), orderasc: a, orderdesc: b) { a } }
  the same
{ q(func: has(a), orderasc: a, orderasc: a) { a } }
  ! line 1 column 42: Sorting by an attribute: [a] can only be done once
{ q(func: has(a), orderasc: a@en:de) { a } }
  ! line 1 column 35: Sorting by an attribute: [a@en:de] can only be done on one language
{ q(func: has(a), orderasc: a@.) { a } }
  the same
{ q(func: has(a), orderasc: val(v)) { v as b } }
  the same
{ q(func: has(a), orderasc: val(v, w)) { v as b w as c } }
  ! line 1 column 28: Expected only one variable but got: 2
{ q(func: has(a), orderasc: val()) { a } }
  ! line 1 column 31: Unnecessary comma in val()
{ q(func: has(a), orderasc: uid) { a } }
  the same
{ q(func: has(a), func: has(b)) { a } }
  ! line 1 column 22: Only one function allowed at root
{ q() { a } }
  ! line 1 column 10: Only aggregation/math functions allowed inside empty blocks. Got: a
{ q(first: 3) { a } }
  the same
{ q(func: uid(1, 0x2, 3)) { a } }
  the same
{ q(func: uid()) { a } }
  the same
{ q(func: uid(v)) { a } v as var(func: has(a)) }
  { q(func: uid(v)) { a } v as var(func: has(a)) { } }
{ q(func: uid(1, v)) { a } v as var(func: has(a)) }
  { q(func: uid(1, v)) { a } v as var(func: has(a)) { } }
{ q(func: 5) { a } }
  ! line 1 column 11: Expected ( after func name [5]
{ v as q(func: has(a)) { a } }
  ! Some variables are defined but not used Defined:[v] Used:[]
{ v as(func: has(a)) { a } }
  ! line 1 column 7: Expected Left round brackets. Got: lex.Item [9] "func" at 1:7
{ q as var(func: has(a)) { a } r(func: uid(q)) { b } }
  the same
{ var(func: has(a)) { a } }
  the same
{ q { a } }
  ! line 1 column 4: Expected Left round brackets. Got: lex.Item [6] "{" at 1:4
{ q(func: has(a)) }
  { q(func: has(a)) { } }
{ q(func: has(a)) { a }
  ! while lexing { q(func: has(a)) { a } at line 1 column 23: Unclosed action
{ q(func: has(a)) { a } } }
  ! while lexing { q(func: has(a)) { a } } } at line 1 column 26: Too many right curl
{ q(func: has(a)) { a } q(func: has(b)) { b } }
  ! Duplicate aliases not allowed: q
{ }
  ! while lexing { } at line 1 column 2: Unexpected character while lexing DQL: U+007D '}'
query { q(func: has(a)) { a } }
  { q(func: has(a)) { a } }

# fields, with aliases, languages, variables, counts, facets
{ q(func: has(a)) { x: a b@en:de c@* d@. } }
  the same
{ q(func: has(a)) { a@en:* } }
  ! If * is used, no other languages are allowed in the language list. Found [en *]
{ q(func: has(a)) { a@ } }
  ! while lexing { q(func: has(a)) { a@ } } at line 1 column 22: Unrecognized character in lexDirective: U+0020 ' '
{ q(func: has(a)) { x: uid uid } }
  the same
{ q(func: has(a)) { x: y: a } }
  ! line 1 column 23: Invalid colon after alias declaration
{ q(func: has(a)) { v as a } r(func: uid(v)) { b } }
  the same
{ q(func: has(a)) { v as w as a } r(func: uid(v)) { b } }
  ! Variables are not used properly. Defined:[w] Used:[v]
{ q(func: has(a)) { v as a } }
  ! Some variables are defined but not used Defined:[v] Used:[]
{ q(func: has(a)) { count(uid) n: count(b) count(~b) } }
  the same
{ q(func: has(a)) { count(b { c }) } }
  ! line 1 column 32: Cannot have children attributes when asking for count.
{ q(func: has(a)) { count(b @filter(has(c))) } }
  the same
{ q(func: has(a)) { count(b, c) } }
  ! line 1 column 30: Multiple predicates not allowed in single count.
{ q(func: has(a)) { count() } }
  ! line 1 column 26: Cannot use count(), please use count(uid)
{ q(func: has(a)) { count(count(b)) } }
  ! line 1 column 31: Invalid mention of function count
{ q(func: has(a)) { val(v) s: sum(val(v)) min(val(v)) max(val(v)) avg(val(v)) } var(func: has(a)) { v as b } }
  the same
{ q(func: has(a)) { val() } }
  ! line 1 column 23: Unnecessary comma in val()
{ q(func: has(a)) { val(v, w) } }
  ! line 1 column 30: Invalid use of val(). Exactly one variable expected.
{ q(func: has(a)) { sum(v) } }
  ! line 1 column 25: Only variables allowed in aggregate functions. Got: v
{ q(func: has(a)) { sum(val(v, w)) } }
  ! line 1 column 33: Expected one variable inside val() of aggregator but got 2
{ q(func: has(a)) { sum(b) } }
  ! line 1 column 25: Only variables allowed in aggregate functions. Got: b
{ q(func: has(a)) { min { b } } }
  the same
{ q() { sum(val(v)) } var(func: has(a)) { v as b } }
  the same
{ q(func: has(a)) { expand(_all_) { b } } }
  the same
{ q(func: has(a)) { expand(T, U) { b } } }
  the same
{ q(func: has(a)) { expand(val(v)) } }
  ! Some variables are used but not defined Defined:[] Used:[v]
{ q(func: has(a)) { expand() } }
  ! line 1 column 29: Unexpected token } when reading a type list
{ q(func: has(a)) { expand(T,) } }
  ! while lexing { q(func: has(a)) { expand(T,) } } at line 1 column 30: Empty Argument
{ q(func: has(a)) { expand(_all_, T) } }
  ! line 1 column 37: Invalid mention of brackets
{ q(func: has(a)) { checkpwd(b, "secret") } }
  the same
{ q(func: has(a)) { x: checkpwd(b, "secret") } }
  the same
{ q(func: has(a)) { b (first: 2, orderasc: c) @filter(has(c)) { c } } }
  the same
{ q(func: has(a)) { b @facets } }
  the same
{ q(func: has(a)) { b @facets(f, x: g, orderasc: h) { c } } }
  the same
{ q(func: has(a)) { b @facets(orderdesc: f, orderasc: g) { c } } }
  the same
{ q(func: has(a)) { b @facets(v as f) { c } } r(func: uid(v)) { a } }
  the same
{ q(func: has(a)) { b @facets(v as f, v as g) { c } } r(func: uid(v)) { a } }
  ! Some variables are declared multiple times.
{ q(func: has(a)) { b @facets(v as f, w as f) { c } } r(func: uid(v, w)) { a } }
  ! line 1 column 44: Duplicate variable mappings for facet f
{ q(func: has(a)) { b @facets(orderasc: f, orderdesc: f) { c } } }
  ! line 1 column 55: Sorting by facet: [f] can only be done once
{ q(func: has(a)) { b @facets(f, f) { c } } }
  { q(func: has(a)) { b @facets(f) { c } } }
{ q(func: has(a)) { b @facets(f,) { c } } }
  ! while lexing { q(func: has(a)) { b @facets(f,) { c } } } at line 1 column 33: Empty Argument
{ q(func: has(a)) { b @facets(f g) { c } } }
  ! line 1 column 32: Expected ( after func name [f]
{ q(func: has(a)) { b @facets() { c } } }
  the same
{ q(func: has(a)) { b @facets(eq(f, 1)) { c } } }
  the same
{ q(func: has(a)) { b @facets(eq(f, 1) and not le(g, 2)) @facets(f) { c } } }
  { q(func: has(a)) { b @facets(f) @facets(eq(f, 1) AND NOT (le(g, 2))) { c } } }
{ q(func: has(a)) { b @facets(eq(f, val(v))) { c } } }
  ! line 1 column 23: variables are not allowed in facets filter.
{ q(func: has(a)) { b @facets(eq(val(v), 1)) { c } } }
  ! line 1 column 23: variables are not allowed in facets filter.
{ q(func: has(a)) { b @facets @facets { c } } }
  ! line 1 column 31: Only one facets allowed
{ q(func: has(a)) { b @facets(eq(f, 1)) @facets(eq(g, 1)) { c } } }
  ! line 1 column 41: Only one facets filter allowed

# directives
{ q(func: has(a)) @normalize { a } }
  the same
{ q(func: has(a)) @cascade { a } }
  the same
{ q(func: has(a)) @cascade(a, b) { a } }
  the same
{ q(func: has(a)) @cascade() { a } }
  ! line 1 column 26: Unnecessary comma in cascade()
{ q(func: has(a)) @cascade(a,) { a } }
  ! while lexing { q(func: has(a)) @cascade(a,) { a } } at line 1 column 30: Empty Argument
{ q(func: has(a)) @ignorereflex { a } }
  the same
{ q(func: has(a)) @recurse { a b } }
  the same
{ q(func: has(a)) @recurse(depth: 3, loop: true) { a b } }
  the same
{ q(func: has(a)) @recurse(loop: false) { a b } }
  the same
{ q(func: has(a)) @recurse(depth: x) { a b } }
  ! Value inside depth should be type of integer
{ q(func: has(a)) @recurse(deep: 3) { a b } }
  ! line 1 column 33: Unexpected key: [deep] inside @recurse block
{ q(func: has(a)) @recurse(depth: 3, ) { a b } }
  ! while lexing { q(func: has(a)) @recurse(depth: 3, ) { a b } } at line 1 column 38: Empty Argument
{ q(func: has(a)) @recurse(depth 3) { a b } }
  ! line 1 column 33: Expected colon(:) after depth
query t($d: int = 3) { q(func: has(a)) @recurse(depth: $d) { a b } }
  { q(func: has(a)) @recurse(depth: 3) { a b } }
{ q(func: has(a)) @groupby(b, x: c) { count(uid) sum(val(v)) } var(func: has(a)) { v as d } }
  ! line 1 column 58: Only aggregator/count functions allowed inside @groupby. Got: v
{ q(func: has(a)) @groupby(b) { c } }
  ! line 1 column 34: Only aggregator/count functions allowed inside @groupby. Got: c
{ q(func: has(a)) @groupby() { count(uid) } }
  ! line 1 column 26: Unnecessary comma in groupby()
{ q(func: has(a)) @groupby(b) @groupby(c) { count(uid) } }
  { q(func: has(a)) @groupby(b, c) { count(uid) } }
{ q(func: has(a)) { b @groupby(c@en) { count(uid) } } }
  the same
{ q(func: has(a)) @filter() { a } }
  { q(func: has(a)) { a } }
{ q(func: has(a)) @filter(has(b)) @filter(has(c)) { a } }
  ! line 1 column 35: Repeated filter at root
{ q(func: has(a)) { b @cascade @normalize { c } } }
  { q(func: has(a)) { b @normalize @cascade { c } } }
{ q(func: has(a)) { b @nosuch { c } } }
  ! line 1 column 32: Cannot have children for attr: b with lang tags: [nosuch]
{ q(func: has(a)) @nosuch { a } }
  ! line 1 column 19: Unknown directive [nosuch]
{ q(func: has(a)) { b @filter(has(c)) @filter(has(d)) } }
  ! line 1 column 39: Use AND, OR and round brackets instead of multiple filter directives.
{ @filter(has(a)) }
  ! while lexing { @filter(has(a)) } at line 1 column 2: Unexpected character while lexing DQL: U+0040 '@'
{ q(func: has(a)) { @filter(has(b)) } }
  ! line 1 column 18: Invalid use of directive.
{ p as shortest(from: 1, to: 2, depth: 3, numpaths: 2) { a @facets(w) } q(func: uid(p)) { a } }
  { p as shortest(from: 1, to: 2, numpaths: 2, depth: 3) { a @facets(w) } q(func: uid(p)) { a } }
{ p as shortest(from: uid(v), to: 2) { a } var(func: has(a)) { v as b } q(func: uid(p)) { a } }
  the same
{ p as shortest(from: 1, to: 2, minweight: 1.5, maxweight: 4) { a } q(func: uid(p)) { a } }
  the same
{ shortest(from: 1) { a } }
  the same
{ shortest(from: x, to: 2) { a } }
  ! line 1 column 17: from/to in shortest path can only accept uid function or an uid. Got: x

# functions
{ q(func: eq(a, 1)) @filter(eq(a, "x", "y") and eq(a, ["z", 5])) { a } }
  { q(func: eq(a, 1)) @filter(eq(a, "x", "y") AND eq(a, ["z", 5])) { a } }
{ q(func: eq(a, [])) { a } }
  ! while lexing { q(func: eq(a, [])) { a } } at line 1 column 19: Empty Argument
{ q(func: eq(a, [1, [2]])) { a } }
  ! line 1 column 20: Invalid arg list
{ q(func: eq(a, [1,])) { a } }
  ! while lexing { q(func: eq(a, [1,])) { a } } at line 1 column 21: Empty Argument
{ q(func: eq(a, [1 2])) { a } }
  { q(func: eq(a, [1, 2])) { a } }
{ q(func: eq(a,)) { a } }
  ! while lexing { q(func: eq(a,)) { a } } at line 1 column 16: Empty Argument
{ q(func: eq(, 1)) { a } }
  ! line 1 column 13: Invalid use of comma.
{ q(func: eq()) { a } }
  ! line 1 column 14: Got empty attr for function: [eq]
{ q(func: eq(a, -5, +3)) { a } }
  the same
{ q(func: eq(a, - -5)) { a } }
  ! line 1 column 19: Expected comma or language but got: 5
{ q(func: eq(a@en, 1)) { a } }
  the same
{ q(func: eq(a@en:de, 1)) { a } }
  ! line 1 column 17: Expected arg after func [eq], but got item lex.Item [13] ":" at 1:17
{ q(func: eq(count(a), 1)) { a } }
  the same
{ q(func: eq(count(a), 1, 2)) { a } }
  the same
{ q(func: eq(val(v), 1)) { a } var(func: has(a)) { v as b } }
  the same
{ q(func: eq(a, val(v))) { a } var(func: has(a)) { v as b } }
  the same
{ q(func: eq(a, val(v, w))) { a } }
  ! line 1 column 19: Multiple variables not allowed in a function
{ q(func: eq(val(v, w), 1)) { a } }
  ! line 1 column 16: Multiple variables not allowed in a function
{ q(func: uid(v)) @filter(eq(len(v), 1)) { a } v as var(func: has(a)) }
  { q(func: uid(v)) @filter(eq(len(v), 1)) { a } v as var(func: has(a)) { } }
{ q(func: has(a)) @filter(gt(len(v), 1)) { a } v as var(func: has(a)) }
  { q(func: has(a)) @filter(gt(len(v), 1)) { a } v as var(func: has(a)) { } }
{ q(func: has(a)) @filter(le(len(v, w), 1)) { a } }
  ! line 1 column 32: Multiple variables not allowed in len function
{ q(func: has(a)) @filter(has(len(v))) { a } }
  ! line 1 column 33: len function only allowed inside inequality function
{ q(func: between(a, 1, 5)) { a } }
  the same
{ q(func: between(a, 1)) { a } }
  the same
{ q(func: regexp(a, /ab\/c/i)) { a } }
  the same
{ q(func: regexp(a, /ab/x)) { a } }
  the same
{ q(func: regexp(a, "ab")) { a } }
  the same
{ q(func: match(a, "ab", 2)) { a } }
  the same
{ q(func: near(a, [1.5, -2], 100)) { a } }
  { q(func: near(a, [1.5,-2], 100)) { a } }
{ q(func: within(a, [[[1, 2], [3, 4], [5, 6], [1, 2]]])) { a } }
  { q(func: within(a, [[[1,2],[3,4],[5,6],[1,2]]])) { a } }
{ q(func: near(a, [1, 2, 100)) { a } }
  ! line 1 column 28: Found invalid item: ) while parsing geo arguments.
{ q(func: near(a, [[[[[[1]]]]]], 100)) { a } }
  ! line 1 column 22: Invalid bracket sequence
{ q(func: type(T)) { a } }
  the same
{ q(func: type("T")) { a } }
  the same
{ q(func: type(T, U)) { a } }
  ! line 1 column 20: type function only supports one argument. Got: [{T false false} {U false false}]
{ q(func: has(a)) @filter(uid_in(b, 1, 0x2)) { a } }
  the same
{ q(func: has(a)) @filter(uid_in(b, uid(v))) { a } v as var(func: has(a)) }
  { q(func: has(a)) @filter(uid_in(b, uid(v))) { a } v as var(func: has(a)) { } }
{ q(func: has(a)) @filter(uid_in(b, uid(v, w))) { a } }
  ! line 1 column 39: Nested uid fn expects 1 uid variable, got 2
{ q(func: has(a)) @filter(uid_in(b)) { a } }
  ! line 1 column 33: uid_in function expects an argument, got none
{ q(func: has(a)) @filter(uid(v, w)) { a } v as var(func: has(a)) w as var(func: has(b)) }
  { q(func: has(a)) @filter(uid(v, w)) { a } v as var(func: has(a)) { } w as var(func: has(b)) { } }
{ q(func: similar_to(a, 3, "[1, 2]")) { a } }
  the same
{ q(func: similar_to(a, 3, "[1, 2]", ef: 10, distance_threshold: 0.5)) { a } }
  the same
{ q(func: similar_to(a, 3, "[1, 2]", ef: )) { a } }
  ! line 1 column 41: Expected value for ef
{ q(func: similar_to(a, 3, "[1, 2]", ef: 10, ef: 11)) { a } }
  ! line 1 column 45: Duplicate key "ef" in similar_to options
{ q(func: eq(a, 1, ef: 10)) { a } }
  ! line 1 column 21: Expected arg after func [eq], but got item lex.Item [13] ":" at 1:21
{ q(func: nosuch(a, 1)) { a } }
  ! line 1 column 8: Function name: nosuch is not valid.
{ q(func: EQ(a, 1)) { a } }
  { q(func: eq(a, 1)) { a } }
{ q(func: has(a)) @filter(Has(b) AND NOT HAS(c)) { a } }
  { q(func: has(a)) @filter(has(b) AND NOT (has(c))) { a } }
{ q(func: checkpwd(a, "x")) { a } }
  ! line 1 column 8: Function name: checkpwd is not valid.
{ q(func: has(a, b)) { a } }
  the same
{ q(func: has(a)) @filter(has(b) has(c)) { a } }
  ! line 1 column 25: Expected one item in value stack, but got 2
{ q(func: has(a)) @filter(has(b) and) { a } }
  ! Invalid filter statement
{ q(func: has(a)) @filter(and has(b)) { a } }
  ! Invalid filter statement
{ q(func: has(a)) @filter(not not has(b)) { a } }
  ! Invalid filter statement
{ q(func: has(a)) @filter((has(b) or has(c)) and (has(d) or not (has(e) and has(f)))) { a } }
  { q(func: has(a)) @filter((has(b) OR has(c)) AND (has(d) OR NOT (has(e) AND has(f)))) { a } }
{ q(func: has(a)) @filter((has(b)) { a } }
  ! while lexing { q(func: has(a)) @filter((has(b)) { a } } at line 1 column 42: Unclosed Brackets
{ q(func: has(a)) @filter(has(b))) { a } }
  ! while lexing { q(func: has(a)) @filter(has(b))) { a } } at line 1 column 33: Unrecognized character in lexText: U+0029 ')'
{ q(func: eq(a, "unended)) { a } }
  ! while lexing { q(func: eq(a, "unended)) { a } } at line 1 column 16: Unexpected end of input.
{ q(func: eq(<a, 1)) { a } }
  ! while lexing { q(func: eq(<a, 1)) { a } } at line 1 column 16: Unexpected character ' ' while parsing IRI
{ q(func: has(a)) { a # a comment } }
  ! while lexing { q(func: has(a)) { a # a comment } } at line 1 column 37: Unclosed action
{ q(func: has(a)) { a ; b } }
  ! while lexing { q(func: has(a)) { a ; b } } at line 1 column 22: Unrecognized character in lexText: U+003B ';'
{ q(func: has(a)) { a, b } }
  { q(func: has(a)) { a b } }

# math
{ q(func: has(a)) { x as b m: math(x + 1 * 2 - 3 / 4 % 5) } }
  { q(func: has(a)) { x as b m: math((x + ((1 * 2) - ((3 / 4) % 5)))) } }
{ q(func: has(a)) { x as b m: math((x + 1) * 2) } }
  { q(func: has(a)) { x as b m: math(((x + 1) * 2)) } }
{ q(func: has(a)) { x as b m: math(-x + - 1) } }
  { q(func: has(a)) { x as b m: math(((-(x)) + (-(1)))) } }
{ q(func: has(a)) { x as b m: math(cond(x > 1, ln(x), pow(x, 2))) } }
  { q(func: has(a)) { x as b m: math(cond((x > 1), ln(x), pow(x, 2))) } }
{ q(func: has(a)) { x as b m: math(max(x, 1) == min(x, 2)) } }
  { q(func: has(a)) { x as b m: math((max(x, 1) == min(x, 2))) } }
{ q(func: has(a)) { x as b m: math(logbase(x, 2) != sqrt(x)) } }
  { q(func: has(a)) { x as b m: math((logbase(x, 2) != sqrt(x))) } }
{ q(func: has(a)) { x as b m: math(floor(x) <= ceil(x)) } }
  { q(func: has(a)) { x as b m: math((floor(x) <= ceil(x))) } }
{ q(func: has(a)) { x as b m: math(x dot x) } }
  { q(func: has(a)) { x as b m: math((x dot x)) } }
{ q(func: has(a)) { x as b m: math(dot(x, x)) } }
  { q(func: has(a)) { x as b m: math((x dot x)) } }
{ q(func: has(a)) { x as b m: math(since(x)) } }
  the same
{ q(func: has(a)) { x as b m: math(exp(x) && x || x) } }
  ! while lexing { q(func: has(a)) { x as b m: math(exp(x) && x || x) } } at line 1 column 42: Unrecognized character inside a func: U+0026 '&'
{ q(func: has(a)) { x as b m: math(x / 0) } }
  ! Division by zero.
{ q(func: has(a)) { x as b m: math(x % 0) } }
  ! Division by zero.
{ q(func: has(a)) { x as b m: math(x / ln(1)) } }
  ! Division by zero
{ q(func: has(a)) { x as b m: math(x / floor(0.5)) } }
  ! Division by zero
{ q(func: has(a)) { x as b m: math(x / (0)) } }
  ! Division by zero.
{ q(func: has(a)) { x as b m: math(x +) } }
  ! Invalid Math expression. Expected 2 operands
{ q(func: has(a)) { x as b m: math(+ x) } }
  ! Invalid Math expression. Expected 2 operands
{ q(func: has(a)) { x as b m: math(x 1) } }
  ! Expected one item in value stack, but got 2
{ q(func: has(a)) { x as b m: math() } }
  ! Empty () not allowed in math block.
{ q(func: has(a)) { x as b m: math((x) } }
  ! while lexing { q(func: has(a)) { x as b m: math((x) } } at line 1 column 42: Unclosed Brackets
{ q(func: has(a)) { x as b m: math(cond(x)) } }
  ! Invalid Math expression. Expected 3 operands
{ q(func: has(a)) { x as b m: math(ln(x, 1)) } }
  ! Expected one item in value stack, but got 2
{ q(func: has(a)) { x as b m: math(nosuch(x)) } }
  ! Unknown math function: nosuch
{ q(func: has(a)) { x as b math(x) } }
  ! line 1 column 31: Function math should be used with a variable or have an alias
{ q(func: has(a)) { m: math(y + 1) } }
  ! Some variables are used but not defined Defined:[] Used:[y]

# fragments
query { q(func: has(a)) { ...f } } fragment f { a b { c } }
  { q(func: has(a)) { a b { c } } }
query { q(func: has(a)) { ...f } } fragment f { ...g } fragment g { a }
  { q(func: has(a)) { a } }
query { q(func: has(a)) { ...f } } fragment f { ...f }
  ! Cycle detected: f
query { q(func: has(a)) { ...f } }
  ! Missing fragment: f
query { q(func: has(a)) { ...f } } fragment f { a } fragment f { b }
  { q(func: has(a)) { b } }
fragment { a }
  ! line 1 column 11: Empty fragment name

# variables of the query: declared, typed, with a default
query t($a: string) { q(func: eq(a, $a)) { a } }
  { q(func: eq(a, "")) { a } }
query t($a: string = "x") { q(func: eq(a, $a)) { a } }
  { q(func: eq(a, "x")) { a } }
query t($a: string! = "x") { q(func: eq(a, $a)) { a } }
  ! line 1 column 20: Type ending with ! can't have default value: Got: string!
query t($a: int = 5) { q(func: has(a), first: $a) { a } }
  { q(func: has(a), first: 5) { a } }
query t($a: int = x) { q(func: has(a), first: $a) { a } }
  ! Expected an int but got x: strconv.ParseInt: parsing "x": invalid syntax
query t($a: bool = true) { q(func: eq(a, $a)) { a } }
  { q(func: eq(a, true)) { a } }
query t($a: bool = maybe) { q(func: eq(a, $a)) { a } }
  ! Expected a bool but got maybe: strconv.ParseBool: parsing "maybe": invalid syntax
query t($a: float = 1.5) { q(func: eq(a, $a)) { a } }
  { q(func: eq(a, 1.5)) { a } }
query t($a: float = x) { q(func: eq(a, $a)) { a } }
  ! Expected a float but got x: strconv.ParseFloat: parsing "x": invalid syntax
query t($a: nosuch = 1) { q(func: eq(a, $a)) { a } }
  ! Type "nosuch" not supported
query t($a: int = 1) { q(func: has(a)) { a } }
  { q(func: has(a)) { a } }
query t($a: int = 1) { q(func: eq(a, $b)) { a } }
  ! Variable not defined $b
query t($a: string = "[1, 2]") { q(func: uid($a)) { a } }
  { q(func: uid(1, 2)) { a } }
query t($a: string = "1") { q(func: uid($a)) { a } }
  { q(func: uid(1)) { a } }
query t($a: string = "x") { q(func: uid($a)) { a } }
  ! strconv.ParseUint: parsing "x": invalid syntax
query t($a: string = "[") { q(func: uid($a)) { a } }
  ! Invalid id list at root. Got: [
query t(a: int = 1) { q(func: eq(a, 1)) { a } }
  ! line 1 column 8: Unexpected item in place of variable. Got: lex.Item [9] "a" at 1:8 false
query t($a int = 1) { q(func: eq(a, $a)) { a } }
  ! line 1 column 11: Expecting a colon. Got: lex.Item [9] "int" at 1:11
query t($a: int = 1 $b: int = 2) { q(func: eq(a, $a)) { a } }
  ! line 1 column 20: Missing comma in var declaration
query t() { q(func: has(a)) { a } }
  { q(func: has(a)) { a } }
query ($a: int = 1) { q(func: eq(a, $a)) { a } }
  ! line 1 column 6: Variables can be defined only in named queries.
query t { q(func: has(a)) { a } }
  { q(func: has(a)) { a } }
query t($a: int = 5) { q(func: has(a)) { x as b m: math(x + $a) } }
  { q(func: has(a)) { x as b m: math((x + 5)) } }
query t($a: string = "5") { q(func: has(a)) { x as b m: math(x + $a) } }
  { q(func: has(a)) { x as b m: math((x + 5)) } }
query t($a: string = "/ab/i") { q(func: regexp(a, $a)) { a } }
  { q(func: regexp(a, /ab/i)) { a } }
query t($a: string = "ab") { q(func: regexp(a, $a)) { a } }
  ! Found invalid regex: [ab]

# requests for the schema
schema { type index }
  schema {type index}
schema { }
  schema {}
schema (pred: [a, b]) { type }
  schema(pred: [a, b]) {type}
schema (pred: a) { type }
  schema(pred: [a]) {type}
schema (type: T) { fields }
  schema(type: [T]) {fields}
schema (type: [T, U]) { }
  schema(type: [T, U]) {}
schema { type, index }
  ! line 1 column 13: Invalid schema block.
schema { type } schema { index }
  ! line 1 column 16: Only one schema block allowed
schema { type } { q(func: has(a)) { a } }
  schema {type} { q(func: has(a)) { a } }
`;

function read(text: string): string {
  const plain = (printed: string): string => printed.replace(/\s+/g, " ").trim();
  try {
    const printed = plain(printQuery(parseQuery(text, new Map())));
    return printed === text ? "the same" : printed;
  } catch (error) {
    if (error instanceof Fault) return plain(`! ${error.message}`);
    throw error;
  }
}

describe.each(readExpectations(readings))("$title", ({ rows }) => {
  test.each(rows)("%s", (text, expected) => {
    expect(read(text)).toBe(expected);
  });
});
