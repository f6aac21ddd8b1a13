/** How editors colour DQL, and facts as RDF: by the shape of words, since functions and predicates are known to the server. */
import CodeMirror from "codemirror";

interface State {
  /** The last sign that is no space: a word behind an opening parenthesis, or before one, is not a predicate. */
  before: string;
}

const keywords =
  /^(?:query|mutation|upsert|fragment|schema|set|delete|as|var|and|or|not|if|cond|type|true|false|null|asc|desc)$/i;

CodeMirror.defineMode("dql", (): CodeMirror.Mode<State> => ({
  startState: () => ({ before: "" }),
  token(stream, state) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^#.*/)) return "comment";
    const style = readToken(stream);
    state.before = stream.current();
    return style;
  },
  lineComment: "#",
}));

function readToken(stream: CodeMirror.StringStream): string | null {
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
  if (stream.match(/^\/(?:[^/\\\n]|\\.)+\/[gimsuy]*/)) return "string-2";
  if (stream.match(/^<[^>\s]*>/)) return "attribute";
  if (stream.match(/^@[\w.]+/)) return "meta";
  if (stream.match(/^\$\w+/)) return "variable-2";
  if (stream.match(/^_:[\w.-]+/)) return "variable-2";
  if (stream.match(/^0x[\da-f]+\b/i) || stream.match(/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?\b/i))
    return "number";
  if (stream.match(/^~?[\p{L}_][\p{L}\p{N}_.-]*/u)) {
    const word = stream.current();
    if (keywords.test(word)) return "keyword";
    if (stream.match(/^\s*\(/, false)) return "def";
    if (stream.match(/^\s*:/, false)) return "property";
    return "attribute";
  }
  stream.next();
  return /[{}()[\]]/.test(stream.current()) ? "bracket" : "punctuation";
}
