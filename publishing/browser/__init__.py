"""Pages in a headless Chromium: console errors, narrow screens, accessibility, and pictures."""
