// A plugin of Vite: the site, which the element loads its frame from, goes into a folder of
// its own beside what is built, as it is, since its files know each other by their names.
// Where pages are tried out the folder is served. The element is told where it is.
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const types = { ".css": "text/css", ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml", ".wasm": "application/wasm" };
/** Files of the package that are none of the site's. */
const own = ["package.json", "README.md", "index.js", "index.d.ts", "react.js", "react.d.ts", "vite.js", "vite.d.ts", "dp-audit.d.ts"];

/** Names of the site's files, with slashes. */
const names = () => readdirSync(here, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(here.length).split(sep).join("/"))
  .filter((name) => !own.includes(name) && !name.startsWith("node_modules/"));

/** @param {{folder?: string}} [options] */
export default function dpscope({ folder = "dpscope" } = {}) {
  let serves = false, base = "/", frame = "";
  return {
    name: "dpscope",
    config: () => ({ optimizeDeps: { exclude: ["dpscope"] } }), // bundled beforehand it would not pass through transform
    configResolved(config) {
      serves = config.command === "serve";
      base = config.base.startsWith("/") ? config.base : "/";
    },
    buildStart() {
      if (serves) return;
      for (const name of names()) {
        const file = this.emitFile({ type: "asset", fileName: `${folder}/${name}`, source: readFileSync(join(here, name)) });
        if (name === "embed.html") frame = file;
      }
    },
    transform(code, id) {
      if (!id.split("?")[0].endsWith("/dpscope/index.js") || !code.includes("import.meta.url")) return null;
      const site = serves ? `new URL(${JSON.stringify(`${base}${folder}/`)}, document.baseURI).href` : `import.meta.ROLLUP_FILE_URL_${frame}`;
      return { code: code.replaceAll("import.meta.url", site), map: null };
    },
    configureServer(server) {
      const known = new Set(names());
      server.middlewares.use((request, response, next) => {
        const path = decodeURIComponent(new URL(request.url, "http://x").pathname);
        const name = path.startsWith(`${base}${folder}/`) ? path.slice(base.length + folder.length + 1) : "";
        if (!known.has(name)) return next();
        response.setHeader("Content-Type", types[extname(name)] ?? "application/octet-stream");
        response.end(readFileSync(join(here, name)));
      });
    },
  };
}
