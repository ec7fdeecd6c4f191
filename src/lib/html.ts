// HTML from templates: what is put into one is escaped, unless it is HTML itself.

/** A piece of HTML. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** What can stand in a template: texts, pieces of HTML, lists of these; `undefined` and `false` are nothing. */
export type Part = Html | string | number | undefined | false | readonly Part[]

/** A piece of HTML: `` html`<p>${text}</p>` ``. Values of attributes must stand in double quotes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(rendered)))
}

/** A text as HTML shows it. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function rendered(part: Part): string {
  if (part instanceof Html) return part.text
  if (part === undefined || part === false) return ''
  if (typeof part === 'object') return part.map(rendered).join('')
  return escaped(String(part))
}
