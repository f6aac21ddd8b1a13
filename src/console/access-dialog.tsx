/** Who asks: a key, the administration token, a login, and the application's own token. */
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { access, type Access, logIn, logOut, noAccess } from "./access.ts";
import { TextField, Refusal } from "./parts.tsx";
import { toRefusal, useStored } from "./use.ts";
import type { RefusedByServer } from "./refused.ts";

export function AccessDialog({ onClose }: { onClose: () => void }): ReactNode {
  const [kept] = useStored(access);
  const [draft, setDraft] = useState<Access>(kept);
  const [fault, setFault] = useState("");
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const save = (event: FormEvent): void => {
    event.preventDefault();
    const { key, token, header, headerValue } = draft;
    const wrong = findFault(header, [key, token, headerValue]);
    setFault(wrong);
    if (wrong !== "") return;
    access.set({ ...access.get(), key, token, header, headerValue });
    onClose();
  };
  return (
    <dialog ref={dialog} aria-labelledby={title} onClose={onClose}>
      <h2 id={title}>Access</h2>
      <p className="quiet">
        What the console shows of who asks. It is kept in this tab alone, and forgotten with it.
      </p>
      <Login />
      <form onSubmit={save}>
        <KeyFields draft={draft} onChange={setDraft} />
        {fault !== "" && (
          <p role="alert" className="bad">
            {fault}
          </p>
        )}
        <div className="dialog-end">
          <button
            type="button"
            onClick={() => {
              access.set(noAccess);
              setDraft(noAccess);
            }}
          >
            Forget all
          </button>
          <span className="grow" />
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary">
            Use
          </button>
        </div>
      </form>
    </dialog>
  );
}

function KeyFields({
  draft,
  onChange,
}: {
  draft: Access;
  onChange: (draft: Access) => void;
}): ReactNode {
  const set = (name: keyof Access) => (value: string) =>
    onChange({ ...draft, [name]: value.trim() });
  return (
    <>
      <h3>Keys and tokens</h3>
      <TextField
        label="Key"
        type="password"
        value={draft.key}
        onChange={set("key")}
        hint="X-Auth-Token: an Admin or a Client key, where anonymous access is off"
      />
      <TextField
        label="Administration token"
        type="password"
        value={draft.token}
        onChange={set("token")}
        hint="X-Dgraph-AuthToken, where the server has one"
      />
      <div className="pair">
        <TextField
          label="Application header"
          value={draft.header}
          onChange={set("header")}
          placeholder="X-My-App-Auth"
          hint="that the schema names in # Dgraph.Authorization"
        />
        <TextField
          label="Its token"
          type="password"
          value={draft.headerValue}
          onChange={(value) => onChange({ ...draft, headerValue: value })}
          hint="a JWT, for rules of @auth"
        />
      </div>
    </>
  );
}

/** Headers are sent with every request: one that cannot be would break them all. */
function findFault(header: string, values: readonly string[]): string {
  if (header !== "" && !/^[\w!#$%&'*+.^`|~-]+$/.test(header))
    return "The application header is no name of a header.";
  if (values.some((value) => !/^[\x20-\x7e]*$/.test(value)))
    return "Keys and tokens are plain ASCII.";
  return "";
}

function Login(): ReactNode {
  const [{ user, namespace }] = useStored(access);
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [space, setSpace] = useState("0");
  const [refusal, setRefusal] = useState<RefusedByServer>();
  if (user !== "") {
    return (
      <p className="login-known">
        Logged in as <strong>{user}</strong> in namespace {namespace}.{" "}
        <button type="button" onClick={logOut}>
          Log out
        </button>
      </p>
    );
  }
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setRefusal(undefined);
    try {
      await logIn(name, password, Number(space));
      setPassword("");
    } catch (error) {
      setRefusal(toRefusal(error));
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <h3>Log in</h3>
      <div className="pair is-three">
        <TextField label="User" value={name} onChange={setName} />
        <TextField label="Password" type="password" value={password} onChange={setPassword} />
        <TextField label="Namespace" type="number" value={space} onChange={setSpace} />
      </div>
      {refusal !== undefined && <Refusal refusal={refusal} onAccess={() => undefined} />}
      <button type="submit" disabled={name === ""}>
        Log in
      </button>
    </form>
  );
}
