import { expect, test } from "vitest";
import { rewriteRdfLine } from "./rdf-lines.ts";

const uids = new Map<string, number>();
const resolve = (label: string): number => {
  const uid = uids.get(label) ?? uids.size + 1;
  uids.set(label, uid);
  return uid;
};

test.each([
  ['_:a <name> "A" .', '<0x1> <name> "A" .'],
  ["<_:a> <knows> <_:b> .", "<0x1> <knows> <0x2> ."],
  ['_:b <name> "_:a <x> _:b"@en (since=2006) .', '<0x2> <name> "_:a <x> _:b"@en (since=2006) .'],
  ["<0x10> <knows> _:a .", "<0x10> <knows> <0x1> ."],
  ["<16> <knows> <0x11> (close=true) .", "<16> <knows> <0x11> (close=true) ."],
  ["_:a\t<knows>\t_:b\t.", "<0x1>\t<knows>\t<0x2>\t."],
  ["_:a <knows> _:b.", "<0x1> <knows> <0x2>."],
  ["<http://x.example/c> <knows> _:a .", "<0x3> <knows> <0x1> ."],
  ['_:a name "x" .', '<0x1> name "x" .'],
  ["no fact at all", "no fact at all"],
  ["<unclosed", "<unclosed"],
])("%s", (line, expected) => expect(rewriteRdfLine(line, resolve)).toBe(expected));
