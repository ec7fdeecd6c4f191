// What pages are made from, and what they have in common.
import { type Html, html, type HtmlContent } from '../../lib/html.ts'

/** What a text is about: a value as it is, or the name of something of the realm, which may be the key of a text in `${…}`. */
export type TextParameter = string | number | null | { readonly name: string }

/** A text in the language of the page, by its key. */
export type Translator = (key: string, ...about: readonly TextParameter[]) => string

/** What is wrong, or was: a text by its key, and the field that it is about. */
interface PageProblem {
  readonly key: string
  readonly about?: readonly TextParameter[]
  readonly field?: string
}

/** What a page knows of its reader and of where it stands. */
export interface View {
  readonly text: Translator
  readonly language: string
  /** The languages that can be chosen, each with the address of the page in it. */
  readonly languages: readonly { readonly tag: string; readonly address: string }[]
  /** The realm as people see it. */
  readonly realm: string
  readonly stylesheet: string
  /** Where the form of the page goes, and the addresses of other pages of the same log-in. */
  readonly action: string
  readonly address: (page: string) => string
  readonly problem?: PageProblem | undefined
  readonly info?: string | undefined
  /** What was typed before. */
  readonly values: Readonly<Record<string, string>>
}

/** A page: its title and what it shows below. */
export type Page = (view: View) => { readonly title: string; readonly content: HtmlContent }

/** The whole document. */
export function renderDocument(page: Page, view: View): Html {
  const { text, language, languages, realm, stylesheet, problem, info } = view
  const { title, content } = page(view)
  const general = problem && problem.field === undefined && problem
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${general ? `${text('errorTitle')} – ` : ''}${title} – ${realm}</title>
<link rel="stylesheet" href="${stylesheet}">
</head>
<body>
<header>${realm}</header>
<main>
<h1>${title}</h1>
${general && html`<p class="problem" role="alert">${text(general.key, ...(general.about ?? []))}</p>`}
${info !== undefined && html`<p class="info" role="status">${text(info)}</p>`}
${content}
</main>
${
  languages.length > 1 &&
  html`<nav aria-label="${text('languages')}"><ul>${languages.map(
    ({ tag, address }) =>
      html`<li><a href="${address}" hreflang="${tag}" lang="${tag}"${tag === language && html` aria-current="true"`}>${nameOf(tag)}</a></li>`,
  )}</ul></nav>`
}
</body>
</html>
`
}

/** What a language calls itself. */
function nameOf(tag: string): string {
  try {
    return new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag
  } catch {
    return tag
  }
}

/** A form, with its buttons. */
export function form({ action }: View, fields: HtmlContent, buttons: HtmlContent): Html {
  return html`<form method="post" action="${action}">
${fields}
<div class="buttons">${buttons}</div>
</form>`
}

/** The button that sends a form. */
export const submit = (label: string, name?: string, kind?: 'plain'): Html =>
  html`<button type="submit"${name !== undefined && html` name="${name}" value="true"`}${kind && html` class="${kind}" formnovalidate`}>${label}</button>
`

/** A field of a form. */
export interface InputField {
  readonly name: string
  readonly label: string
  readonly type?: string
  readonly value?: string | undefined
  readonly autocomplete?: string
  readonly required?: boolean
  readonly readonly?: boolean
  readonly autofocus?: boolean
  readonly help?: string | undefined
  /** Further attributes, such as `inputmode`. */
  readonly also?: Readonly<Record<string, string>>
}

/** An input with its label, and what is wrong with it. */
export function input(view: View, field: InputField): Html {
  const { name, type = 'text', value = view.values[field.name], also = {} } = field
  return labelled(
    view,
    field,
    (described) =>
      html`<input id="${name}" name="${name}" type="${type}"${
        value !== undefined && html` value="${value}"`
      }${field.autocomplete !== undefined && html` autocomplete="${field.autocomplete}"`}${
        field.required && html` required`
      }${field.readonly && html` readonly`}${field.autofocus && html` autofocus`}${Object.entries(also).map(
        ([attribute, value]) => html` ${attribute}="${value}"`,
      )}${described}>`,
  )
}

/** Whatever a field is entered with, below its label. */
export function labelled(
  { text, problem }: View,
  { name, label, help, required }: InputField,
  control: (described: Html) => Html,
): Html {
  const wrong = problem?.field === name ? problem : undefined
  const by = [...(help === undefined ? [] : [`${name}-help`]), ...(wrong ? [`${name}-problem`] : [])].join(' ')
  const described = html`${by !== '' && html` aria-describedby="${by}"`}${wrong && html` aria-invalid="true"`}`
  return html`<div class="field">
<label for="${name}">${label}${required === false && html` <small>${text('optional')}</small>`}</label>
${help !== undefined && html`<p class="help" id="${name}-help">${help}</p>`}
${wrong && html`<p class="problem" id="${name}-problem" role="alert">${text(wrong.key, ...(wrong.about ?? []))}</p>`}
${control(described)}
</div>`
}

/** A box to tick. */
export const checkbox = (name: string, label: HtmlContent, checked = false): Html =>
  html`<div class="tick"><input id="${name}" name="${name}" type="checkbox" value="on"${checked && html` checked`}>
<label for="${name}">${label}</label></div>`

/** Something that is only told. */
export const paragraph = (text: HtmlContent): Html => html`<p>${text}</p>`

/** A link below a form. */
export const link = (address: string, label: string): Html => html`<p><a href="${address}">${label}</a></p>`
