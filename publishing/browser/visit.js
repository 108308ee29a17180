// node visit.js: reads {browser, modules, axe, pages: [{url, picture}]} as JSON, prints a finding a line.
// A page fails if its console shows an error, if a request fails, if it is wider than the window,
// or if axe-core finds something serious.
"use strict";
const fs = require("fs");
const task = JSON.parse(fs.readFileSync(0, "utf8"));
const puppeteer = require(`${task.modules}/puppeteer-core`);
const axe = fs.readFileSync(`${task.modules}/axe-core/axe.min.js`, "utf8");
const WIDTHS = [1200, 400];

async function visit(browser, page, width) {
  const tab = await browser.newPage();
  const problems = [];
  tab.on("console", (line) => line.type() === "error" && problems.push(`console: ${line.text()}`));
  tab.on("pageerror", (error) => problems.push(`error: ${error}`));
  tab.on("requestfailed", (request) => problems.push(`request failed: ${request.url()}`));
  await tab.setViewport({ width, height: page.height || 800 });
  await tab.goto(page.url, { waitUntil: "load" });
  if (page.picture && width === WIDTHS[0]) await tab.screenshot({ path: page.picture });
  const found = await tab.evaluate(() => document.documentElement.scrollWidth);
  if (found > width) problems.push(`${found} pixels wide`);
  await tab.evaluate(axe);
  const report = await tab.evaluate(() => window.axe.run({ preload: false }));
  for (const each of report.violations) {
    if (each.impact === "serious" || each.impact === "critical") {
      problems.push(`${each.impact}: ${each.id}, ${each.nodes.length} times: ${each.nodes[0].html.slice(0, 120)}`);
    }
  }
  await tab.close();
  return problems.map((problem) => `${page.url} at ${width} px: ${problem}`);
}

(async () => {
  const browser = await puppeteer.launch({ executablePath: task.browser, args: ["--no-sandbox"] });
  try {
    for (const page of task.pages) {
      for (const width of WIDTHS) {
        for (const problem of await visit(browser, page, width)) console.log(problem);
      }
    }
  } finally {
    await browser.close();
  }
})();
