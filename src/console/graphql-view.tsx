/** GraphiQL over the application's API, and over the administration's. */
import { createGraphiQLFetcher, type Fetcher } from "@graphiql/toolkit";
import CodeMirror from "codemirror";
import { GraphiQL } from "graphiql";
import "graphiql/graphiql.css";
import { type ReactNode, useMemo, useState } from "react";
import { access, readAccessHeaders, type Access } from "./access.ts";
import { Tabs } from "./parts.tsx";
import type { ViewProps } from "./shell.tsx";
import { useStored } from "./use.ts";

type Api = "graphql" | "admin";

const tabs = [
  { name: "graphql", label: "Data" },
  { name: "admin", label: "Administration" },
] as const;

const greeting = `# Ctrl-Space completes, Ctrl-Enter runs.
# The book at the left holds the schema.

{
  __schema {
    queryType {
      fields { name }
    }
  }
}
`;

/** GraphiQL names the parts that its editors stand in, and not the fields that are written in. */
CodeMirror.defineInitHook((editor: CodeMirror.Editor) => {
  const field = editor.getInputField();
  const part = editor.getWrapperElement().closest("[aria-label]")?.getAttribute("aria-label");
  if (!field.hasAttribute("aria-label")) field.setAttribute("aria-label", part ?? "Editor");
});

export function GraphqlView({ theme }: ViewProps): ReactNode {
  const [api, setApi] = useState<Api>("graphql");
  const [shown] = useStored(access);
  // Another login sees another schema, and a socket is opened with what it shows.
  const fetcher = useMemo(() => makeFetcher(api, shown), [api, shown]);
  const storage = useMemo(() => new NamedStorage(`weft-${api}`), [api]);
  return (
    <div className="graphql">
      <div className="graphql-head">
        <h1>GraphQL</h1>
        <Tabs label="API" tabs={tabs} shown={api} onShow={setApi} />
        <code className="quiet">POST /{api}</code>
      </div>
      <GraphiQL
        key={`${api} ${JSON.stringify(shown)}`}
        fetcher={fetcher}
        forcedTheme={theme}
        storage={storage}
        defaultQuery={greeting}
        isHeadersEditorEnabled
        shouldPersistHeaders={false}
        showPersistHeadersSettings={false}
      >
        <GraphiQL.Logo>
          <></>
        </GraphiQL.Logo>
      </GraphiQL>
    </div>
  );
}

function makeFetcher(api: Api, shown: Access): Fetcher {
  const url = new URL(api, document.baseURI);
  const socket = new URL(url);
  socket.protocol = url.protocol.replace("http", "ws");
  const ask: typeof fetch = async (input, init) =>
    await fetch(input, {
      ...init,
      headers: { ...toRecord(init?.headers), ...(await readAccessHeaders()) },
    });
  return createGraphiQLFetcher({
    url: url.href,
    fetch: ask,
    ...(api === "graphql"
      ? { subscriptionUrl: socket.href, wsConnectionParams: socketParams(shown) }
      : {}),
  });
}

/** A browser's socket has no headers: what they would say goes into its first message. */
function socketParams({ key, accessJwt, header, headerValue }: Access): Record<string, string> {
  const params: Record<string, string> = {};
  if (key !== "") params["X-Auth-Token"] = key;
  if (accessJwt !== "") params["X-Dgraph-AccessToken"] = accessJwt;
  if (header !== "") params[header] = headerValue;
  return params;
}

function toRecord(headers: HeadersInit | undefined): Record<string, string> {
  return Object.fromEntries(new Headers(headers).entries());
}

/** The tabs of each API, kept apart, for as long as the browser's tab: queries may hold what others may not see. */
class NamedStorage {
  readonly #prefix: string;

  constructor(name: string) {
    this.#prefix = `${name}:`;
  }

  get length(): number {
    return this.#names().length;
  }

  getItem(name: string): string | null {
    return sessionStorage.getItem(this.#prefix + name);
  }

  setItem(name: string, value: string): void {
    sessionStorage.setItem(this.#prefix + name, value);
  }

  removeItem(name: string): void {
    sessionStorage.removeItem(this.#prefix + name);
  }

  clear(): void {
    for (const name of this.#names()) sessionStorage.removeItem(name);
  }

  #names(): string[] {
    return Object.keys(sessionStorage).filter((name) => name.startsWith(this.#prefix));
  }
}
