// Pages of required actions, of consent, and of links in emails.
import { html } from '../../lib/html.ts'
import { checkbox, form, input, link, type Page, paragraph, submit, type TextReference, type View } from './view.ts'

/** Asks for a new password, twice. Shows the rules of the password policy. */
export const updatePasswordPage =
  ({ username, rules }: { readonly username: string; readonly rules: readonly TextReference[] }): Page =>
  (view) => ({
    title: view.text('updatePasswordTitle'),
    content: [
      paragraph(view.text('updatePasswordMessage')),
      form(
        view,
        [
          passwordManagerUsername(username),
          newPasswordInputs(view, 'passwordNew', { names: ['password-new', 'password-confirm'], rules }),
          checkbox('logout-sessions', view.text('logoutOtherSessions')),
        ],
        submit(view.text('doSubmit')),
      ),
    ],
  })

/** The username, from which a password manager knows the account of the new password. */
const passwordManagerUsername = (username: string) =>
  html`<input type="text" name="username" value="${username}" autocomplete="username" readonly hidden>`

/** The inputs of a new password and its confirmation. `label` is the key of a text. */
export function newPasswordInputs(
  view: View,
  label: string,
  { names, rules }: { readonly names: readonly [string, string]; readonly rules: readonly TextReference[] },
) {
  const { text } = view
  const [name, confirmationName] = names
  const common = { type: 'password', autocomplete: 'new-password', required: true, value: '' }
  const help = rules.length > 0 && [
    text('passwordRules'),
    html`<ul>${rules.map(({ key, params }) => html`<li>${text(key, ...params)}</li>`)}</ul>`,
  ]
  return [
    input(view, { ...common, name, label: text(label), ...(help && { help }) }),
    input(view, { ...common, name: confirmationName, label: text('passwordConfirm') }),
  ]
}

/** Asks the user to accept the terms of the realm. */
export const termsPage: Page = (view) => ({
  title: view.text('termsTitle'),
  content: [
    paragraph(view.text('termsText')),
    form(view, [], [submit(view.text('doAccept'), 'accept'), submit(view.text('doDecline'), 'cancel', 'plain')]),
  ],
})

/** Asks the user for their consent. The items are texts, or contain keys of texts as `${…}`. */
export const consentPage =
  (clientName: string, items: readonly string[]): Page =>
  (view) => {
    const { text } = view
    return {
      title: text('oauthGrantTitle', { name: clientName }),
      content: [
        paragraph(text('oauthGrantRequest')),
        html`<ul>${items.map((item) => html`<li>${item.includes('${') ? text(item) : item}</li>`)}</ul>`,
        form(view, [], [submit(text('doYes'), 'accept'), submit(text('doNo'), 'cancel', 'plain')]),
      ],
    }
  }

/** Asks the user to open the link in an email. */
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

/** Asks for the username of a forgotten password. */
export const forgotPasswordPage =
  (username: string, { byEmail }: { readonly byEmail: boolean }): Page =>
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
            value: view.values.username ?? username,
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

/** Asks the user to confirm that they become a member of an organization. */
export const confirmMembershipPage =
  (organization: string): Page =>
  (view) => ({
    title: view.text('confirmMembershipTitle', organization),
    content: [
      paragraph(view.text('organization.confirm-membership', organization)),
      form(view, [], submit(view.text('doJoin'))),
    ],
  })

/** Asks the user to confirm a link of an email, since email scanners follow links too. `actions` are aliases of required actions. */
export const confirmLinkPage =
  (
    question: string,
    { params, actions }: { readonly params: readonly string[]; readonly actions: readonly string[] },
  ): Page =>
  (view) => ({
    title: view.text('actionRequiredTitle'),
    content: [
      paragraph(view.text(question, ...params)),
      actions.length > 0 &&
        html`<ul>${actions.map((alias) => html`<li>${view.text(`requiredAction.${alias}`)}</li>`)}</ul>`,
      form(view, [], submit(view.text('proceedWithAction'))),
    ],
  })
