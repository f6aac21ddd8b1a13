/** One editor for every text of the console: DQL, facts, schemas, JSON. */
import CodeMirror from "codemirror";
import "codemirror/lib/codemirror.css";
import "codemirror/addon/hint/show-hint.css";
import "codemirror/addon/fold/foldgutter.css";
import "codemirror/addon/hint/show-hint.js";
import "codemirror/addon/edit/matchbrackets.js";
import "codemirror/addon/edit/closebrackets.js";
import "codemirror/addon/comment/comment.js";
import "codemirror/addon/fold/foldcode.js";
import "codemirror/addon/fold/brace-fold.js";
import "codemirror/addon/fold/foldgutter.js";
import "codemirror/addon/search/searchcursor.js";
import "codemirror/mode/javascript/javascript.js";
import "codemirror-graphql/esm/mode.js";
import "./dql-mode.ts";
import { type ReactNode, useEffect, useRef } from "react";
import { markProblems, problemGutter, showProblem, type TextProblem } from "./problem-marks.ts";

/** What a word can be completed to, and what kind of thing that is. */
export interface Completion {
  readonly text: string;
  readonly kind: string;
}

interface EditorProps {
  /** What the editor is for, for readers of screens. */
  readonly label: string;
  readonly mode: "dql" | "json" | "sdl";
  readonly value: string;
  /** Absent: the text can be read alone. */
  readonly onChange?: (text: string) => void;
  /** Ctrl-Enter. */
  readonly onRun?: () => void;
  readonly words?: readonly Completion[];
  /** The uid under a click, in JSON. */
  readonly onUid?: (uid: string) => void;
  /** Marked at their places. Absent: there is no room for signs. */
  readonly problems?: readonly TextProblem[];
  /** One of them that the reader wants to see. */
  readonly sought?: TextProblem | undefined;
}

const modes = { dql: "dql", json: { name: "javascript", json: true }, sdl: "graphql" } as const;

export function Editor(props: EditorProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<CodeMirror.Editor>(undefined);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    if (place.current === null) return undefined;
    const made = makeEditor(place.current, latest);
    editor.current = made;
    return () => {
      place.current?.replaceChildren();
      editor.current = undefined;
    };
  }, []);
  useEffect(() => {
    const made = editor.current;
    if (made === undefined || made.getValue() === props.value) return;
    made.setValue(props.value);
  }, [props.value]);
  useEffect(() => {
    editor.current?.setOption("mode", modes[props.mode]);
  }, [props.mode]);
  useEffect(() => {
    if (editor.current !== undefined) markProblems(editor.current, props.problems ?? []);
  }, [props.problems]);
  useEffect(() => {
    if (editor.current !== undefined && props.sought !== undefined) {
      showProblem(editor.current, props.sought);
    }
  }, [props.sought]);
  return <div ref={place} className={props.onChange === undefined ? "editor is-read" : "editor"} />;
}

interface Latest {
  readonly current: EditorProps;
}

function makeEditor(place: HTMLElement, latest: Latest): CodeMirror.Editor {
  const { label, mode, value, onChange, problems } = latest.current;
  const isRead = onChange === undefined;
  const editor: CodeMirror.Editor = CodeMirror(place, {
    value,
    mode: modes[mode],
    // Focusable all the same: who has no mouse scrolls and copies with keys.
    readOnly: isRead,
    screenReaderLabel: label,
    lineNumbers: true,
    lineWrapping: isRead,
    matchBrackets: true,
    autoCloseBrackets: !isRead,
    foldGutter: true,
    gutters: [
      ...(problems === undefined ? [] : [problemGutter]),
      "CodeMirror-linenumbers",
      "CodeMirror-foldgutter",
    ],
    tabSize: 2,
    // Tab leaves the editor, as it leaves every field.
    extraKeys: {
      Tab: false,
      "Shift-Tab": false,
      "Ctrl-Enter": () => latest.current.onRun?.(),
      "Cmd-Enter": () => latest.current.onRun?.(),
      "Ctrl-Space": () => complete(editor, latest),
      "Ctrl-/": "toggleComment",
      "Cmd-/": "toggleComment",
    },
  });
  editor.on("change", () => latest.current.onChange?.(editor.getValue()));
  editor.on("inputRead", (_, change) => {
    if (/^[\w@.~]$/.test(change.text[0] ?? "")) complete(editor, latest);
  });
  if (isRead) followUids(editor, latest);
  return editor;
}

/** As many as anybody looks through. */
const wordsMax = 60;

function complete(editor: CodeMirror.Editor, latest: Latest): void {
  const { words = [] } = latest.current;
  if (words.length === 0) return;
  editor.showHint({ completeSingle: false, hint: () => findCompletions(editor, words) });
}

function findCompletions(
  editor: CodeMirror.Editor,
  words: readonly Completion[],
): CodeMirror.Hints | undefined {
  const cursor = editor.getCursor();
  if (/string|comment/.test(editor.getTokenTypeAt(cursor) ?? "")) return undefined;
  const line = editor.getLine(cursor.line).slice(0, cursor.ch);
  const begun = /[@~]?[\w.]*$/.exec(line)?.[0] ?? "";
  const wanted = begun.toLowerCase();
  const rank = ({ text }: Completion): number => {
    const at = text.toLowerCase().indexOf(wanted);
    if (at <= 0) return at;
    return text[at - 1] === "." ? 1 : 2;
  };
  const found = words
    .filter((word) => rank(word) >= 0 && word.text !== begun)
    .sort(
      (a, b) => rank(a) - rank(b) || a.text.length - b.text.length || (a.text < b.text ? -1 : 1),
    );
  if (found.length === 0) return undefined;
  return {
    from: CodeMirror.Pos(cursor.line, cursor.ch - begun.length),
    to: cursor,
    list: found.slice(0, wordsMax).map(({ text, kind }) => ({
      text,
      render(element) {
        const note = document.createElement("span");
        note.className = "hint-kind";
        note.textContent = kind;
        element.append(text, note);
      },
    })),
  };
}

/** A click on a uid in an answer shows its node. */
function followUids(editor: CodeMirror.Editor, latest: Latest): void {
  editor.getWrapperElement().addEventListener("click", (event) => {
    const { onUid } = latest.current;
    if (onUid === undefined || editor.somethingSelected()) return;
    const at = editor.coordsChar({ left: event.clientX, top: event.clientY });
    const uid = /^"(0x[\da-f]{1,16})"$/.exec(
      editor.getTokenAt({ line: at.line, ch: at.ch + 1 }).string,
    )?.[1];
    if (uid !== undefined) onUid(uid);
  });
}
