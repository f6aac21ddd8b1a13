/** Light or dark: as the system has it, unless the reader has chosen. */
import { useEffect, useSyncExternalStore } from "react";
import { makeStored } from "./stored.ts";
import { useStored } from "./use.ts";

export type Theme = "light" | "dark";

const choice = makeStored<Theme | undefined>(
  () => localStorage,
  "weft-theme",
  (kept) => (kept === "light" || kept === "dark" ? kept : undefined),
);

const darkSystem = matchMedia("(prefers-color-scheme: dark)");

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [chosen, choose] = useStored(choice);
  const isDark = useSyncExternalStore(
    (listener) => {
      darkSystem.addEventListener("change", listener);
      return () => darkSystem.removeEventListener("change", listener);
    },
    () => darkSystem.matches,
  );
  const theme = chosen ?? (isDark ? "dark" : "light");
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
  }, [theme]);
  return [theme, choose];
}
