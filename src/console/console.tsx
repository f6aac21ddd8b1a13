/** The page: puts the console into the document. */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./console.css";
import { Shell } from "./shell.tsx";

const place = document.querySelector("#console");
if (place !== null) {
  createRoot(place).render(
    <StrictMode>
      <Shell />
    </StrictMode>,
  );
}
