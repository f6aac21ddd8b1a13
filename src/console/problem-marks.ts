/** Problems of a text in its editor: a sign in the gutter, and a line under the word that each begins with. */
import type CodeMirror from "codemirror";

export interface TextProblem {
  readonly message: string;
  /** From 1; null: of the text as a whole. */
  readonly line: number | null;
  readonly column: number | null;
}

export const problemGutter = "problems";

/** In place of those that were shown before. */
export function markProblems(editor: CodeMirror.Editor, problems: readonly TextProblem[]): void {
  editor.operation(() => {
    editor.clearGutter(problemGutter);
    for (const mark of editor.getAllMarks()) {
      if (mark.className === className) mark.clear();
    }
    for (const [line, texts] of byLine(problems)) {
      if (line < editor.lineCount()) editor.setGutterMarker(line, problemGutter, makeSign(texts));
    }
    for (const { line, column } of problems) {
      if (line !== null) underline(editor, line - 1, (column ?? 1) - 1);
    }
  });
}

/** Puts the cursor where it begins. */
export function showProblem(editor: CodeMirror.Editor, { line, column }: TextProblem): void {
  editor.setCursor({ line: (line ?? 1) - 1, ch: (column ?? 1) - 1 });
  editor.focus();
}

const className = "problem-text";

function byLine(problems: readonly TextProblem[]): ReadonlyMap<number, readonly string[]> {
  const lines = new Map<number, string[]>();
  for (const { line, message } of problems) {
    if (line === null) continue;
    const texts = lines.get(line - 1);
    if (texts === undefined) lines.set(line - 1, [message]);
    else texts.push(message);
  }
  return lines;
}

/** What it says is also in the list beside the editor, which is what readers of screens are told. */
function makeSign(texts: readonly string[]): HTMLElement {
  const sign = document.createElement("span");
  sign.className = "problem-sign";
  sign.title = texts.join("\n");
  sign.textContent = "●";
  return sign;
}

function underline(editor: CodeMirror.Editor, line: number, from: number): void {
  if (line >= editor.lineCount()) return;
  const length = /^[[@$]*\w+[\]!]*/.exec(editor.getLine(line).slice(from))?.[0].length ?? 1;
  editor.markText({ line, ch: from }, { line, ch: from + length }, { className });
}
