// The pages of what people must do at log-in.
import { html } from '../../lib/html.ts'
import { checkbox, form, input, link, type Page, paragraph, submit, type View } from './view.ts'

/** A new password, twice. */
export const updatePasswordPage =
  (name: string): Page =>
  (view) => ({
    title: view.text('updatePasswordTitle'),
    content: [
      paragraph(view.text('updatePasswordMessage')),
      form(
        view,
        [
          nameForManagers(name),
          newPasswords(view, 'passwordNew', ['password-new', 'password-confirm']),
          checkbox('logout-sessions', view.text('logoutOtherSessions')),
        ],
        submit(view.text('doSubmit')),
      ),
    ],
  })

/** Programs that keep passwords want to know whose it is. */
const nameForManagers = (name: string) =>
  html`<input type="text" name="username" value="${name}" autocomplete="username" readonly hidden>`

/** The two fields of a new password. */
export function newPasswords(view: View, label: string, [first, second]: readonly [string, string]) {
  const { text } = view
  const common = { type: 'password', autocomplete: 'new-password', required: true, value: '' }
  return [
    input(view, { ...common, name: first, label: text(label) }),
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

/** A mail is on its way to the address. */
export const emailVerifyPage =
  (email: string): Page =>
  (view) => ({
    title: view.text('emailVerifyTitle'),
    content: [
      paragraph(view.text('emailVerifyInstruction1', email)),
      paragraph(view.text('emailVerifyInstruction2')),
      form(view, [], submit(view.text('emailVerifyResend'), 'resend', 'plain')),
    ],
  })

/** Whose password is forgotten. */
export const forgotPasswordPage =
  (byEmail: boolean, name: string): Page =>
  (view) => {
    const { text } = view
    return {
      title: text('emailForgotTitle'),
      content: [
        paragraph(text(byEmail ? 'emailInstruction' : 'emailInstructionUsername')),
        form(
          view,
          input(view, {
            name: 'username',
            label: text(byEmail ? 'usernameOrEmail' : 'username'),
            value: view.values.username ?? name,
            autocomplete: 'username',
            required: true,
            autofocus: true,
          }),
          submit(text('doSubmit')),
        ),
        link(view.address('restart'), text('backToLogin')),
      ],
    }
  }

/** What a link from a mail leads to, before it counts: programs that look through mails follow links too. */
export const confirmLinkPage =
  (question: string, about: readonly string[], actions: readonly string[]): Page =>
  (view) => ({
    title: view.text('actionRequiredTitle'),
    content: [
      paragraph(view.text(question, ...about)),
      actions.length > 0 &&
        html`<ul>${actions.map((alias) => html`<li>${view.text(`requiredAction.${alias}`)}</li>`)}</ul>`,
      form(view, [], submit(view.text('proceedWithAction'))),
    ],
  })
