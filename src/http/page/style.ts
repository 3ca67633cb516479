/** System fonts and colours only: nothing is loaded. */
export const style = `
:root {
  color-scheme: light dark;
  --paper: #f6f4ee; --card: #fffefb; --ink: #1c1f1d; --soft: #5c635e; --line: #d9d5ca;
  --accent: #12694d; --accent-soft: #e2efe9; --warn: #9a5b00; --code: #14201b; --code-ink: #e3eee8;
  --sans: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --serif: ui-serif, "Iowan Old Style", "Palatino Linotype", Palatino, Georgia, "DejaVu Serif", serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #101412; --card: #171c19; --ink: #ebe8df; --soft: #9aa39d; --line: #2c342f;
    --accent: #63cda1; --accent-soft: #17332a; --warn: #e2a84a; --code: #0b0e0d; --code-ink: #d6e4dc;
  }
}
* { box-sizing: border-box; margin: 0; }
body { background: var(--paper); color: var(--ink); font: 16px/1.6 var(--sans); -webkit-font-smoothing: antialiased; }
a { color: inherit; text-decoration-color: var(--line); text-underline-offset: .25em; }
a:hover { color: var(--accent); text-decoration-color: currentColor; }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 3px; }
.page { max-width: 64rem; margin: 0 auto; padding: 1.75rem 1.5rem 3rem; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .75rem 1.75rem; }
.brand { display: flex; align-items: center; gap: .6rem; font: 600 1.2rem/1 var(--serif); letter-spacing: .01em; margin-right: auto; }
.brand svg { width: 1.5rem; height: 1.5rem; }
nav { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; font-size: .9rem; }
.hero { display: grid; grid-template-columns: minmax(0, 1fr) auto; align-items: center; gap: 2.5rem; padding: 4.25rem 0 3.5rem; }
h1 { font: 500 clamp(2.1rem, 5.2vw, 3.4rem)/1.08 var(--serif); letter-spacing: -.02em; text-wrap: balance; }
.lead { max-width: 37rem; margin-top: 1.25rem; color: var(--soft); font-size: 1.08rem; text-wrap: pretty; }
.state { display: inline-flex; align-items: center; gap: .55rem; margin-bottom: 1.35rem; padding: .22rem .8rem .22rem .65rem; border: 1px solid var(--line); border-radius: 99px; font-size: .82rem; color: var(--soft); background: var(--card); }
.dot { width: .5rem; height: .5rem; border-radius: 50%; background: var(--accent); flex: none; }
.dot.off { background: var(--warn); }
.seal { width: 11.5rem; height: 11.5rem; color: var(--accent); transform: rotate(-9deg); opacity: .88; }
.columns { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 6fr); gap: 2rem; align-items: start; }
h2 { font: 600 .78rem/1 var(--sans); letter-spacing: .09em; text-transform: uppercase; color: var(--soft); }
.receipt { --tooth: .55rem; background: var(--card); padding: 1.6rem 1.5rem 2.1rem; border-top: 3px solid var(--accent);
  -webkit-mask: conic-gradient(from -45deg at bottom, #0000, #000 1deg 89deg, #0000 90deg) 50% / calc(2 * var(--tooth)) 100%;
  mask: conic-gradient(from -45deg at bottom, #0000, #000 1deg 89deg, #0000 90deg) 50% / calc(2 * var(--tooth)) 100%; }
.shadow { filter: drop-shadow(0 1px 1px rgb(0 0 0 / .09)) drop-shadow(0 10px 24px rgb(20 30 25 / .07)); }
.networks { list-style: none; padding: 0; margin-top: 1.1rem; }
.networks li { display: grid; grid-template-columns: auto 1fr auto; align-items: baseline; gap: 0 .6rem; padding: .62rem 0; }
.networks li + li { border-top: 1px dashed var(--line); }
.leader { border-bottom: 1px dotted var(--line); transform: translateY(-.28em); }
.name { font-weight: 600; }
.health { display: inline-flex; align-items: center; gap: .45rem; font-size: .86rem; }
.id { grid-column: 1 / -1; font: .76rem/1.5 var(--mono); color: var(--soft); overflow-wrap: anywhere; }
.total { display: flex; justify-content: space-between; border-top: 1px solid var(--ink); margin-top: .7rem; padding-top: .8rem; font-size: .9rem; }
.empty { margin-top: 1.1rem; color: var(--soft); font-size: .95rem; }
.use p { margin-top: 1rem; color: var(--soft); font-size: .95rem; }
pre { margin-top: 1.1rem; padding: 1.15rem 1.3rem; border-radius: .6rem; background: var(--code); color: var(--code-ink); border: 1px solid var(--line); font: .8rem/1.65 var(--mono); overflow-x: auto; tab-size: 2; }
pre b { color: #7fd8b2; font-weight: 500; }
code { font: .88em var(--mono); }
.ways { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: 1rem; margin-top: 3.25rem; }
.ways a { display: block; padding: 1.1rem 1.2rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--card); text-decoration: none; transition: border-color .15s; }
.ways a:hover { border-color: var(--accent); }
.ways b { display: block; font-weight: 600; }
.ways span { display: block; margin-top: .2rem; color: var(--soft); font-size: .87rem; line-height: 1.45; }
footer { display: flex; flex-wrap: wrap; gap: .4rem 1.5rem; justify-content: space-between; margin-top: 3.25rem; padding-top: 1.25rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .84rem; }
@media (max-width: 48rem) {
  .hero { grid-template-columns: 1fr; padding: 2.75rem 0 2.5rem; }
  .seal { display: none; }
  .columns { grid-template-columns: minmax(0, 1fr); }
}
@media (prefers-reduced-motion: reduce) { .ways a { transition: none; } }
`

/** A receipt with a tick; readable at 16 pixels on light and dark. */
export const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<path d="M6 2h20v27l-3.3-2.4L19.3 29 16 26.6 12.7 29l-3.4-2.4L6 29z" fill="#12694d"/>
<path d="M10.5 14.2l4 4 7.2-8" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/>
</svg>
`
