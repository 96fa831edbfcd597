"use strict";
document.documentElement.classList.add("js");
const value = (row, n) => {
  const cell = row.cells[n];
  const text = (cell.dataset.v ?? cell.textContent).trim();
  const number = parseFloat(text.replace("−", "-").replace("±", ""));
  return cell.classList.contains("w") || Number.isNaN(number) ? text : number;
};
const compare = (a, b) => {
  if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b);
  return typeof a === "number" ? 1 : -1;
};
const markdown = (table) => {
  const escaped = (text) => text.trim().replace(/\s+/g, " ").replace(/([|\\`*_[\]<])/g, "\\$1");
  const line = (cells) => "| " + cells.join(" | ") + " |";
  const cells = (row) => Array.from(row.cells, (cell) => escaped(cell.textContent));
  const head = table.tHead.rows[0];
  const rule = Array.from(head.cells, (cell) => (cell.classList.contains("w") ? "---" : "---:"));
  const rows = Array.from(table.tBodies[0].rows).filter((row) => !row.hidden);
  return [line(cells(head)), line(rule), ...rows.map((row) => line(cells(row)))].join("\n") + "\n";
};
const copy = async (text, button) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page from a file may not reach the clipboard in that way.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy as Markdown"), 1500);
};
for (const section of document.querySelectorAll(".data")) {
  const table = section.querySelector("table");
  const body = table.tBodies[0];
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, n) => {
    head.querySelector("button").addEventListener("click", () => {
      const words = head.classList.contains("w");
      const up = head.ariaSort ? head.ariaSort === "descending" : words;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = Array.from(body.rows);
      rows.sort((a, b) => compare(value(a, n), value(b, n)) * (up ? 1 : -1));
      body.append(...rows);
    });
  });
  section.querySelector("input").addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase();
    for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
  const button = section.querySelector("button.copy");
  button.addEventListener("click", () => copy(markdown(table), button));
}
