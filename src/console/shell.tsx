/** What stands around every view: where to go, who asks, light or dark. */
import {
  Component,
  type ComponentType,
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
  useState,
} from "react";
import { access, isAnonymous } from "./access.ts";
import { AccessDialog } from "./access-dialog.tsx";
import { Icon, Logo } from "./icons.tsx";
import { accessEvent, Loading } from "./parts.tsx";
import { linkTo, useRoute, viewNames, type ViewName } from "./route.ts";
import { useTheme, type Theme } from "./theme.ts";
import { useStored } from "./use.ts";

export interface ViewProps {
  readonly rest: readonly string[];
  readonly theme: Theme;
}

/** Each is loaded when it is first shown. */
const views: Readonly<Record<ViewName, ComponentType<ViewProps>>> = {
  graphql: lazy(async () => ({ default: (await import("./graphql-view.tsx")).GraphqlView })),
  dql: lazy(async () => ({ default: (await import("./dql-view.tsx")).DqlView })),
  schema: lazy(async () => ({ default: (await import("./schema-view.tsx")).SchemaView })),
  data: lazy(async () => ({ default: (await import("./data-view.tsx")).DataView })),
  requests: lazy(async () => ({ default: (await import("./requests-view.tsx")).RequestsView })),
  health: lazy(async () => ({ default: (await import("./health-view.tsx")).HealthView })),
};

const labels: Readonly<Record<ViewName, string>> = {
  graphql: "GraphQL",
  dql: "DQL",
  schema: "Schema",
  data: "Data",
  requests: "Requests",
  health: "Health",
};

export function Shell(): ReactNode {
  const { view, rest } = useRoute();
  const [theme, choose] = useTheme();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const open = (): void => setOpen(true);
    addEventListener(accessEvent, open);
    return () => removeEventListener(accessEvent, open);
  }, []);
  useEffect(() => {
    document.title = `${labels[view]} – Weft`;
  }, [view]);
  const View = views[view];
  return (
    <>
      <a className="skip" href="#view" onClick={skip}>
        To the view
      </a>
      <nav className="side" aria-label="Views">
        <a className="brand" href={linkTo("graphql")}>
          <Logo />
          <span>Weft</span>
        </a>
        <ul>
          {viewNames.map((name) => (
            <li key={name}>
              <a href={linkTo(name)} aria-current={name === view ? "page" : undefined}>
                <Icon name={name} />
                <span>{labels[name]}</span>
              </a>
            </li>
          ))}
        </ul>
        <div className="side-end">
          <AccessButton onOpen={() => setOpen(true)} />
          <button type="button" onClick={() => choose(theme === "dark" ? "light" : "dark")}>
            <Icon name={theme === "dark" ? "sun" : "moon"} />
            <span>{theme === "dark" ? "Light" : "Dark"}</span>
          </button>
        </div>
      </nav>
      <main id="view" tabIndex={-1}>
        <Guard key={view}>
          <Suspense fallback={<Loading what={labels[view]} />}>
            <View rest={rest} theme={theme} />
          </Suspense>
        </Guard>
      </main>
      {isOpen && <AccessDialog onClose={() => setOpen(false)} />}
    </>
  );
}

/** The address stays: what stands behind `#` is the view. */
function skip(event: { preventDefault(): void }): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#view")?.focus();
}

function AccessButton({ onOpen }: { onOpen: () => void }): ReactNode {
  const [shown] = useStored(access);
  const who = shown.user === "" ? (isAnonymous(shown) ? "Access" : "Credentials set") : shown.user;
  return (
    <button type="button" onClick={onOpen} aria-haspopup="dialog">
      <Icon name="key" />
      <span>{who}</span>
      {!isAnonymous(shown) && <i className="dot" aria-hidden="true" />}
    </button>
  );
}

/** A view that breaks, or whose script cannot be had any more, leaves the others. */
class Guard extends Component<{ children: ReactNode }, { fault: Error | undefined }> {
  override state: { fault: Error | undefined } = { fault: undefined };

  static getDerivedStateFromError(fault: Error): { fault: Error } {
    return { fault };
  }

  override render(): ReactNode {
    const { fault } = this.state;
    if (fault === undefined) return this.props.children;
    return (
      <div className="notice is-bad" role="alert">
        <p>This view cannot be shown: {fault.message}</p>
        <button type="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </div>
    );
  }
}
