// Builds the page: one HTML file with style and script inside, python/fourhop/view/page.html, or the file named.
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";

const here = new URL(".", import.meta.url);
const read = (name) => readFile(new URL(name, here), "utf8");
const script = await build({
  absWorkingDir: new URL(".", here).pathname, entryPoints: ["src/main.ts"], bundle: true, minify: true, format: "iife",
  target: "es2022", legalComments: "none", write: false, charset: "utf8",
});
const style = await build({
  stdin: { contents: `@import "uplot/dist/uPlot.min.css";\n${await read("src/page.css")}`, loader: "css", resolveDir: here.pathname },
  bundle: true, minify: true, write: false,
});
const text = (result) => result.outputFiles[0].text.trim();
// Escapes what would end the enclosing element; a function, since `replace` would interpret `$` in a string.
const inside = (code) => () => code.replaceAll("</script", "<\\/script");
// Users pass pages on, and the libraries in them require that their licences are included.
const others = ["uplot", "@uwdata/flechette"];
const licences = await Promise.all(others.map(async (name) => {
  const { version, license } = JSON.parse(await read(`node_modules/${name}/package.json`));
  return `${name} ${version}, ${license}\n\n${(await read(`node_modules/${name}/LICENSE`)).trim()}\n`;
}));
const page = (await read("src/page.html"))
  .replace("<!--LICENCES-->", () => `<!--\nThis page is made by fourhop (MIT or Apache-2.0) and contains\n\n${licences.join("\n")}-->`)
  .replace("/*STYLE*/", inside(text(style)))
  .replace("/*SCRIPT*/", inside(text(script)));
await writeFile(process.argv[2] ?? new URL("../python/fourhop/view/page.html", here), page);
