// The layout of pages, and their elements.
import { type Html, type HtmlContent, html } from '../../lib/html.ts'

/** A parameter of a text: a value, or a name in the realm that may contain keys of texts as `${…}`. */
export type TextParameter = string | number | null | { readonly name: string }

/** A text by its key, with its parameters. */
export interface TextReference {
  readonly key: string
  readonly params: readonly TextParameter[]
}

/** Returns a text in the language of the page, by its key. */
export type Translator = (key: string, ...params: readonly TextParameter[]) => string

/** The problem of a submitted form. */
interface PageProblem {
  readonly key: string
  readonly params?: readonly TextParameter[]
  /** Absent: the problem is not about a single field. */
  readonly field?: string
}

/** The request-specific data of a page. */
export interface View {
  readonly text: Translator
  readonly language: string
  /** The languages that the user can select, with the address of the page in each. */
  readonly languages: readonly { readonly tag: string; readonly address: string }[]
  /** The display name of the realm. */
  readonly realm: string
  /** The address of the stylesheet. */
  readonly stylesheet: string
  /** The address that the form is submitted to. */
  readonly action: string
  /** Returns the address of another page of the login, such as `restart`. */
  readonly address: (page: string) => string
  readonly problem?: PageProblem | undefined
  /** The key of an information text. */
  readonly info?: string | undefined
  /** The values of the last form, by field. */
  readonly values: Readonly<Record<string, string>>
}

/** Renders a page: its title, and the content below the title. */
export type Page = (view: View) => { readonly title: string; readonly content: HtmlContent }

/** Renders a page as an HTML document. */
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
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${stylesheet}">
</head>
<body>
<header>${realm}</header>
<main>
<h1>${title}</h1>
${general && html`<p class="problem" role="alert">${text(general.key, ...(general.params ?? []))}</p>`}
${info !== undefined && html`<p class="info" role="status">${text(info)}</p>`}
${content}
</main>
${
  languages.length > 1 &&
  html`<nav aria-label="${text('languages')}"><ul>${languages.map(
    ({ tag, address }) =>
      html`<li><a href="${address}" hreflang="${tag}" lang="${tag}"${tag === language && html` aria-current="true"`}>${getLanguageName(tag)}</a></li>`,
  )}</ul></nav>`
}
</body>
</html>
`
}

/** Returns the name of a language in that language. */
function getLanguageName(tag: string): string {
  try {
    return new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag
  } catch {
    return tag
  }
}

/** A form with its buttons. */
export function form({ action }: View, fields: HtmlContent, buttons: HtmlContent): Html {
  return html`<form method="post" action="${action}">
${fields}
<div class="buttons">${buttons}</div>
</form>`
}

/** A submit button. With a name, the form has the value `true` for it; `plain` buttons submit incomplete forms too. */
export const submit = (label: string, name?: string, kind?: 'plain'): Html =>
  html`<button type="submit"${name !== undefined && html` name="${name}" value="true"`}${kind && html` class="${kind}" formnovalidate`}>${label}</button>
`

/** An input of a form. */
export interface InputField {
  readonly name: string
  readonly label: string
  readonly type?: string
  readonly value?: string | undefined
  readonly autocomplete?: string
  readonly required?: boolean
  readonly readonly?: boolean
  readonly autofocus?: boolean
  /** A hint above the input. */
  readonly help?: HtmlContent
  /** Further attributes of the element, such as `inputmode`. */
  readonly attributes?: Readonly<Record<string, string>>
}

/** An input with its label, and with the problem of its value. */
export function input(view: View, field: InputField): Html {
  const { name, type = 'text', value = view.values[field.name], attributes = {} } = field
  return labelled(
    view,
    field,
    (description) =>
      html`<input id="${name}" name="${name}" type="${type}"${
        value !== undefined && html` value="${value}"`
      }${field.autocomplete !== undefined && html` autocomplete="${field.autocomplete}"`}${
        field.required && html` required`
      }${field.readonly && html` readonly`}${field.autofocus && html` autofocus`}${Object.entries(attributes).map(
        ([attribute, value]) => html` ${attribute}="${value}"`,
      )}${description}>`,
  )
}

/** A control with its label, its hint and its problem. `control` gets the attributes that refer to these. */
export function labelled(
  { text, problem }: View,
  { name, label, help, required }: InputField,
  control: (description: Html) => Html,
): Html {
  const fieldProblem = problem?.field === name ? problem : undefined
  const hasHelp = help !== undefined && help !== false
  const ids = [...(hasHelp ? [`${name}-help`] : []), ...(fieldProblem ? [`${name}-problem`] : [])].join(' ')
  const description = html`${ids !== '' && html` aria-describedby="${ids}"`}${fieldProblem && html` aria-invalid="true"`}`
  return html`<div class="field">
<label for="${name}">${label}${required === false && html` <small>${text('optional')}</small>`}</label>
${hasHelp && html`<div class="help" id="${name}-help">${help}</div>`}
${fieldProblem && html`<p class="problem" id="${name}-problem" role="alert">${text(fieldProblem.key, ...(fieldProblem.params ?? []))}</p>`}
${control(description)}
</div>`
}

/** A checkbox with its label. */
export const checkbox = (name: string, label: HtmlContent, checked = false): Html =>
  html`<div class="tick"><input id="${name}" name="${name}" type="checkbox" value="on"${checked && html` checked`}>
<label for="${name}">${label}</label></div>`

/** A paragraph. */
export const paragraph = (text: HtmlContent): Html => html`<p>${text}</p>`

/** A paragraph with a link. */
export const link = (address: string, label: string): Html => html`<p><a href="${address}">${label}</a></p>`
