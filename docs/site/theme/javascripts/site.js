// What the theme lacks for readers who use a keyboard or a screen reader: names of parts of the page, and a focus for what scrolls.
function nameParts() {
  document.querySelectorAll(".md-search[role=dialog]").forEach((part) => part.setAttribute("aria-label", "Search"));
  document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code, .plot, .tabbed-labels").forEach((part) => {
    if (part.scrollWidth > part.clientWidth) part.setAttribute("tabindex", "0");
  });
  document.querySelectorAll("nav.md-code__nav").forEach((part, i) => part.setAttribute("aria-label", "Code block " + (i + 1)));
  document.querySelectorAll(".md-nav[aria-labelledby]").forEach((part) => {
    const label = document.getElementById(part.getAttribute("aria-labelledby"));
    part.setAttribute("aria-label", label.textContent.trim() + ", " + label.id.replace(/\D+/g, " ").trim());
    part.removeAttribute("aria-labelledby");
  });
  const seen = new Map();
  document.querySelectorAll("nav[aria-label]").forEach((part) => {
    const label = part.getAttribute("aria-label");
    const said = label.toLowerCase();  // names that differ in case alone sound the same
    seen.set(said, (seen.get(said) || 0) + 1);
    if (seen.get(said) > 1) part.setAttribute("aria-label", label + ", " + seen.get(said));
  });
}
addEventListener("DOMContentLoaded", () => {
  nameParts();
  new MutationObserver(nameParts).observe(document.body, {childList: true, subtree: true});
});
addEventListener("resize", nameParts);
