// Loads the studio. A browser that cannot run it gets a sentence instead of an empty page.
import start from "./app.js";

// Parts that are loaded when they are first needed; `app/src/islands` asks for them.
globalThis.millrace = { load: (name) => import(`./islands/${name}.js`) };

const boot = document.getElementById("boot");
try {
  await start({ module_or_path: new URL("./app_bg.wasm", import.meta.url) });
  boot.remove();
} catch (fault) {
  boot.textContent = `The studio could not be started: ${fault}. Load the page again; if that does not help, use another browser.`;
}
