// The pages of what people must do at log-in.
import { html } from '../../lib/html.ts'
import { form, input, type Page, paragraph, submit, type View } from './view.ts'

/** A new password, twice. */
export const updatePasswordPage =
  (name: string): Page =>
  (view) => ({
    title: view.text('updatePasswordTitle'),
    content: [
      paragraph(view.text('updatePasswordMessage')),
      form(
        view,
        [nameForManagers(name), newPasswords(view, ['password-new', 'password-confirm'])],
        submit(view.text('doSubmit')),
      ),
    ],
  })

/** Programs that keep passwords want to know whose it is. */
const nameForManagers = (name: string) =>
  html`<input type="text" name="username" value="${name}" autocomplete="username" readonly hidden>`

/** The two fields of a new password. */
export function newPasswords(view: View, [first, second]: readonly [string, string]) {
  const { text } = view
  const common = { type: 'password', autocomplete: 'new-password', required: true, value: '' }
  return [
    input(view, { ...common, name: first, label: text('passwordNew') }),
    input(view, { ...common, name: second, label: text('passwordConfirm') }),
  ]
}

/** The terms of the realm. */
export const termsPage: Page = (view) => ({
  title: view.text('termsTitle'),
  content: [
    paragraph(view.text('termsText')),
    form(view, [], [submit(view.text('doAccept'), 'accept'), submit(view.text('doDecline'), 'cancel', 'plain')]),
  ],
})
