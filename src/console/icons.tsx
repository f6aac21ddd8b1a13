/** Small drawings, of the text's colour. They say nothing that a word beside them does not. */
import type { ReactNode } from "react";

const paths = {
  graphql: "M12 3l7.8 4.5v9L12 21l-7.8-4.5v-9zM12 3L4.2 16.5h15.6z",
  dql: "M7 4c-2 0-3 1-3 3v2c0 1.5-.7 3-2 3 1.3 0 2 1.5 2 3v2c0 2 1 3 3 3M17 4c2 0 3 1 3 3v2c0 1.5.7 3 2 3-1.3 0-2 1.5-2 3v2c0 2-1 3-3 3M9.5 9.5h5M9.5 14.5h5",
  schema: "M4 4h7v5H4zM13 15h7v5h-7zM7.5 9v8.5H13",
  data: "M6 8.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM18 14.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM7 20.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8.3 7l7.4 4M15.9 13.400l-6.7 3.400M6.2 8.5l.6 7",
  requests: "M3 12h4l3-8 4 16 3-8h4",
  health: "M12 20s-8-4.8-8-10.5A4.5 4.5 0 0 1 12 6.800a4.5 4.5 0 0 1 8 2.700C20 15.2 12 20 12 20z",
  key: "M15 9m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0M11.3 12.700L3 21M6 18l2.5 2.5",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M4.9 4.900L7 7M17 17l2.1 2.100M19.1 4.900L17 7M7 17l-2.1 2.1",
  moon: "M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z",
  play: "M7 4.5v15l12-7.5z",
} as const;

type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}

/** Threads over and under each other. */
export function Logo(): ReactNode {
  return (
    <svg className="logo" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d="M3 8h6M13 8h8M3 16h10M17 16h4M8 3v8M8 15v6M16 3v3M16 10v11" />
    </svg>
  );
}
