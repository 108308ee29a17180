// Regions that scroll sideways can be scrolled with the keyboard too.
addEventListener("load", () => {
  const mark = () => {
    for (const region of document.querySelectorAll("pre, .table-wrapper, dt.sig")) {
      if (region.scrollWidth > region.clientWidth) region.tabIndex = 0;
    }
  };
  mark();
  addEventListener("resize", mark);
});
