// The pages with the fields of the user profile.
import { html } from '../../lib/html.ts'
import { newPasswordInputs } from './actions.ts'
import {
  checkbox,
  form,
  input,
  labelled,
  link,
  type Page,
  paragraph,
  submit,
  type TextReference,
  type View,
} from './view.ts'

/** A field of the form. */
export interface ProfileField {
  readonly name: string
  /** A text, or the key of one as `${…}`. */
  readonly label: string
  readonly required: boolean
  readonly readonly: boolean
  readonly value?: string | undefined
  /** The type of the input. */
  readonly type?: string
  /** The allowed values; absent: any value. */
  readonly options?: readonly string[]
  readonly isMultiline?: boolean
}

const AUTOCOMPLETE: Readonly<Record<string, string>> = {
  username: 'username',
  email: 'email',
  firstName: 'given-name',
  lastName: 'family-name',
}

/** Asks the user to review their profile. */
export const profilePage =
  (fields: readonly ProfileField[], { isCancellable }: { readonly isCancellable: boolean }): Page =>
  (view) => {
    const { text } = view
    return {
      title: text('loginProfileTitle'),
      content: [
        paragraph(text('updateProfileMessage')),
        form(
          view,
          fields.map((field) => profileInput(view, field)),
          [submit(text('doSubmit')), isCancellable && submit(text('doCancel'), 'cancel-aia', 'plain')],
        ),
      ],
    }
  }

/** The registration form. `passwordRules` is absent where it asks for no password, `organization` without an invitation. */
export const registrationPage =
  (
    fields: readonly ProfileField[],
    {
      passwordRules,
      hasTerms,
      organization,
    }: {
      readonly passwordRules: readonly TextReference[] | undefined
      readonly hasTerms: boolean
      readonly organization?: string | undefined
    },
  ): Page =>
  (view) => {
    const { text, problem } = view
    const termsProblem = problem?.field === 'termsAccepted' && problem
    return {
      title: organization === undefined ? text('registerTitle') : text('registerMemberTitle', organization),
      content: [
        form(
          view,
          [
            fields.map((field) => profileInput(view, field)),
            passwordRules &&
              newPasswordInputs(view, 'password', { names: ['password', 'password-confirm'], rules: passwordRules }),
            hasTerms && [
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

function profileInput(view: View, { options, isMultiline, ...field }: ProfileField) {
  const { text } = view
  const { name, required, readonly } = field
  const label = field.label.includes('${') ? text(field.label) : field.label
  const value = view.values[name] ?? field.value
  const autocomplete = AUTOCOMPLETE[name]
  const common = { name, label, required, readonly, value }
  const marks = html`${required && html` required`}${readonly && html` readonly`}`
  if (isMultiline) {
    return labelled(
      view,
      common,
      (description) => html`<textarea id="${name}" name="${name}" rows="3"${marks}${description}>${value}</textarea>`,
    )
  }
  if (options) {
    const renderOption = (option: string) =>
      html`<option value="${option}"${option === value && html` selected`}>${option}</option>`
    return labelled(
      view,
      common,
      (description) =>
        html`<select id="${name}" name="${name}"${required && html` required`}${description}><option value=""></option>${options.map(renderOption)}</select>`,
    )
  }
  return input(view, { ...common, ...(field.type && { type: field.type }), ...(autocomplete && { autocomplete }) })
}
