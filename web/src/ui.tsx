// The pages of prony serve.

import { render } from "preact";
import { App } from "./app/app";
import "./ui/page.css";
import "./app/app.css";
import { ThemeProvider } from "./ui/theme";

const place = document.getElementById("page");
if (place) {
  place.textContent = ""; // what stands there for browsers without scripts
  render(<ThemeProvider><App /></ThemeProvider>, place);
}
