// The pages on which people say who they are.
import { html } from '../../lib/html.ts'
import { newPasswords } from './actions.ts'
import { checkbox, form, input, labelled, link, type Page, paragraph, submit, type View } from './view.ts'

/** A field of the form; its label may be the key of a text in `${…}`. */
export interface ProfileField {
  readonly name: string
  readonly label: string
  readonly required: boolean
  readonly readonly: boolean
  readonly value?: string | undefined
  readonly type?: string
  /** What can be chosen; absent: anything. */
  readonly options?: readonly string[]
  /** There may be several lines. */
  readonly lines?: boolean
}

const AUTOCOMPLETE: Readonly<Record<string, string>> = {
  username: 'username',
  email: 'email',
  firstName: 'given-name',
  lastName: 'family-name',
}

/** The details of a person. */
export const profilePage =
  (fields: readonly ProfileField[], cancellable: boolean): Page =>
  (view) => {
    const { text } = view
    return {
      title: text('loginProfileTitle'),
      content: [
        paragraph(text('updateProfileMessage')),
        form(
          view,
          fields.map((field) => entry(view, field)),
          [submit(text('doSubmit')), cancellable && submit(text('doCancel'), 'cancel-aia', 'plain')],
        ),
      ],
    }
  }

/** Somebody new. */
export const registrationPage =
  (fields: readonly ProfileField[], asks: { readonly password: boolean; readonly terms: boolean }): Page =>
  (view) => {
    const { text, problem } = view
    const termsProblem = problem?.field === 'termsAccepted' && problem
    return {
      title: text('registerTitle'),
      content: [
        form(
          view,
          [
            fields.map((field) => entry(view, field)),
            asks.password && newPasswords(view, 'password', ['password', 'password-confirm']),
            asks.terms && [
              paragraph(text('termsText')),
              termsProblem && html`<p class="problem" role="alert">${text(termsProblem.key)}</p>`,
              checkbox('termsAccepted', text('acceptTerms')),
            ],
          ],
          submit(text('doRegister')),
        ),
        link(view.address('restart'), text('backToLogin')),
      ],
    }
  }

function entry(view: View, { options, lines, ...field }: ProfileField) {
  const { text } = view
  const { name, required, readonly } = field
  const label = field.label.includes('${') ? text(field.label) : field.label
  const value = view.values[name] ?? field.value
  const autocomplete = AUTOCOMPLETE[name]
  const common = { name, label, required, readonly, value }
  const marks = html`${required && html` required`}${readonly && html` readonly`}`
  if (lines) {
    return labelled(
      view,
      common,
      (described) => html`<textarea id="${name}" name="${name}" rows="3"${marks}${described}>${value}</textarea>`,
    )
  }
  if (options) {
    const option = (one: string) => html`<option value="${one}"${one === value && html` selected`}>${one}</option>`
    return labelled(
      view,
      common,
      (described) =>
        html`<select id="${name}" name="${name}"${required && html` required`}${described}><option value=""></option>${options.map(option)}</select>`,
    )
  }
  return input(view, { ...common, ...(field.type && { type: field.type }), ...(autocomplete && { autocomplete }) })
}
