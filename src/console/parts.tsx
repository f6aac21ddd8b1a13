/** The parts that views are put together from. */
import { type ReactNode, type KeyboardEvent, useId, useRef } from "react";
import type { RefusedByServer } from "./refused.ts";

/** What the server refused; with the way to keys and logins where those are what is missing. */
export function Refusal({
  refusal,
  onAccess,
}: {
  refusal: RefusedByServer;
  onAccess?: () => void;
}): ReactNode {
  return (
    <div className="notice is-bad" role="alert">
      <pre>{refusal.message}</pre>
      {refusal.isAccess && (
        <p>
          The server wants to know who asks.{" "}
          <button type="button" className="link" onClick={onAccess ?? openAccess}>
            Show a key or log in
          </button>
        </p>
      )}
    </div>
  );
}

/** The dialog is the shell's: views ask for it by an event. */
export const accessEvent = "weft-access";

function openAccess(): void {
  dispatchEvent(new Event(accessEvent));
}

interface Tab<Name extends string> {
  readonly name: Name;
  readonly label: string;
}

interface TabsProps<Name extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<Name>[];
  readonly shown: Name;
  readonly onShow: (name: Name) => void;
}

/** Tabs as keyboards expect them: one stop for Tab, arrows between them. */
export function Tabs<Name extends string>({
  label,
  tabs,
  shown,
  onShow,
}: TabsProps<Name>): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex(({ name }) => name === shown);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    onShow(next.name);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.name}"]`)?.focus();
  };
  return (
    <div ref={list} className="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map(({ name, label: text }) => (
        <button
          key={name}
          type="button"
          role="tab"
          data-tab={name}
          aria-selected={name === shown}
          tabIndex={name === shown ? 0 : -1}
          onClick={() => onShow(name)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

export function Loading({ what }: { what: string }): ReactNode {
  return (
    <p className="quiet" role="status">
      Loading {what} …
    </p>
  );
}

export function Empty({ children }: { children: ReactNode }): ReactNode {
  return <p className="empty">{children}</p>;
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string;
  readonly type?: "text" | "password" | "number" | "search";
  readonly placeholder?: string;
}

export function TextField({
  label,
  value,
  onChange,
  hint,
  type = "text",
  placeholder,
}: FieldProps): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type={type}
        value={value}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.target.value)}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} className="quiet">
          {hint}
        </p>
      )}
    </div>
  );
}

export function ViewHead({ title, children }: { title: string; children?: ReactNode }): ReactNode {
  return (
    <header className="view-head">
      <h1>{title}</h1>
      <div className="view-tools">{children}</div>
    </header>
  );
}

/** Numbers as they are read, in the reader's language. */
export function printCount(count: number): string {
  return count.toLocaleString();
}

export function printMs(ms: number): string {
  return ms < 1000
    ? `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms`
    : `${(ms / 1000).toFixed(1)} s`;
}

export function printBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024
    ? `${(bytes / 1024).toFixed(1)} KB`
    : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
