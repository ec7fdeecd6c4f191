/** The stylesheet of all pages. It follows the colour scheme of the browser. */
export const stylesheet = `:root { color-scheme: light dark; --accent: light-dark(#0b57a4, #8ec5ff); --line: light-dark(#6b7280, #9ca3af);
  --problem: light-dark(#a1161f, #ff9ba0); --panel: light-dark(#fff, #1c1f24); --ground: light-dark(#eef1f5, #111317) }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1rem; max-width: 28rem; font: 1rem/1.5 system-ui, sans-serif; background: var(--ground) }
header { margin: 1.5rem 0; font-size: 1.25rem; text-align: center; overflow-wrap: anywhere }
main { padding: 1.5rem; background: var(--panel); border-radius: .5rem; overflow-wrap: anywhere }
h1 { hyphens: auto; margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25 }
h2 { margin: 1.5rem 0 .5rem; font-size: 1.1rem }
a { color: var(--accent) }
p { margin: .75rem 0 }
.field { margin: 1rem 0 }
label, legend { display: block; font-weight: 600 }
small, .help { font-size: .875rem; font-weight: 400 }
.help { margin: .25rem 0 }
input:not([type=checkbox], [type=radio]), select, textarea { width: 100%; margin-top: .25rem; padding: .6rem; font: inherit; color: inherit;
  background: transparent; border: 1px solid var(--line); border-radius: .25rem }
input[readonly] { background: var(--ground) }
input[aria-invalid] { border-color: var(--problem); border-width: 2px }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
legend { padding: 0 }
fieldset { margin: 1rem 0; padding: 0; border: 0 }
.tick { display: flex; gap: .5rem; align-items: baseline; margin: .5rem 0 }
.tick label { font-weight: 400 }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem }
button { flex: 1 1 auto; padding: .7rem 1rem; font: inherit; font-weight: 600; color: var(--panel); background: var(--accent);
  border: 2px solid var(--accent); border-radius: .25rem; cursor: pointer }
button.plain { color: var(--accent); background: transparent }
.problem { color: var(--problem); font-weight: 600 }
main > .problem, .info { padding: .75rem; border-left: 4px solid }
.problem { margin: .25rem 0 }
.info { border-color: var(--accent) }
code, .code { font-family: ui-monospace, monospace; overflow-wrap: anywhere }
svg { display: block; margin: 1rem auto; width: 13rem; max-width: 100%; height: auto; background: #fff }
dt { font-weight: 600 }
[aria-current] { color: inherit; font-weight: 600; text-decoration: none }
nav ul { display: flex; flex-wrap: wrap; justify-content: center; gap: 1rem; margin: 1.5rem 0; padding: 0; list-style: none }
`
