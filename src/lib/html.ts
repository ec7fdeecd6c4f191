// HTML templates that escape every inserted value, except for HTML.

/** A piece of HTML. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A value to insert into a template. Lists are concatenated; `undefined` and `false` insert nothing. */
export type HtmlContent = Html | string | number | undefined | false | readonly HtmlContent[]

/** Returns HTML from a template such as `` html`<p>${text}</p>` ``. Attribute values must be in double quotes. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlContent[]): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(renderContent)))
}

/** Returns the text with the characters that have a meaning in HTML escaped. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function renderContent(part: HtmlContent): string {
  if (part instanceof Html) return part.text
  if (part === undefined || part === false) return ''
  if (typeof part === 'object') return part.map(renderContent).join('')
  return escapeHtml(String(part))
}
