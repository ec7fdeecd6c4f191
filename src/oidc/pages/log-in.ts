// The pages on which people show who they are.
import { html } from '../../lib/html.ts'
import { checkbox, form, input, link, type Page, paragraph, submit, type View } from './view.ts'

/** What a page of log-in offers. */
export interface LoginPageOptions {
  /** Whether the mail address serves as name. */
  readonly byEmail: boolean
  readonly rememberMe: boolean
  readonly resetPassword: boolean
  readonly registration: boolean
  /** Who it is, where that is known already; only the password is asked for. */
  readonly known?: string | undefined
  /** What is asked for: the name, the password or both. */
  readonly asks: { readonly username: boolean; readonly password: boolean }
  readonly remembered: boolean
}

/** Name and password, or one of them. */
export const logInPage =
  (offers: LoginPageOptions): Page =>
  (view) => {
    const { text, problem } = view
    const { known, asks, byEmail } = offers
    const name = input(view, {
      name: 'username',
      label: text(byEmail ? 'usernameOrEmail' : 'username'),
      autocomplete: 'username',
      required: true,
      autofocus: problem === undefined || view.values.username === undefined,
      also: { autocapitalize: 'none', spellcheck: 'false' },
    })
    const password = input(view, {
      name: 'password',
      label: text('password'),
      type: 'password',
      autocomplete: 'current-password',
      required: true,
      autofocus: known !== undefined || (problem !== undefined && view.values.username !== undefined),
    })
    return {
      title: text('loginAccountTitle'),
      content: [
        known !== undefined && whoIs(view, known),
        form(
          view,
          [
            known === undefined && asks.username && name,
            asks.password && password,
            offers.rememberMe && checkbox('rememberMe', text('rememberMe'), offers.remembered),
          ],
          submit(text('doLogIn')),
        ),
        asks.password && offers.resetPassword && link(view.address('reset-credentials'), text('doForgotPassword')),
        offers.registration &&
          paragraph(html`${text('noAccount')} <a href="${view.address('registration')}">${text('doRegister')}</a>`),
      ],
    }
  }

/** Who logs in, and the way out for somebody else. */
const whoIs = ({ text, address }: View, name: string) =>
  html`<p>${text('attemptedUser', name)} <a href="${address('restart')}">${text('restartLoginTooltip')}</a></p>`

/** A one-time code; of several devices one is chosen. */
export const oneTimeCodePage =
  (name: string, devices: readonly { readonly id: string; readonly label: string }[], chosen: string): Page =>
  (view) => {
    const { text } = view
    const several = devices.length > 1
    return {
      title: text('loginOtpTitle'),
      content: [
        whoIs(view, name),
        form(
          view,
          [
            several &&
              html`<fieldset><legend>${text('loginOtpDevice')}</legend>${devices.map(
                ({ id, label }) =>
                  html`<div class="tick"><input type="radio" id="device-${id}" name="selectedCredentialId" value="${id}"${
                    id === chosen && html` checked`
                  }><label for="device-${id}">${label}</label></div>`,
              )}</fieldset>`,
            codeField(view, 'otp', text('loginOtpOneTime')),
          ],
          submit(text('doLogIn')),
        ),
      ],
    }
  }

/** The field of a one-time code. */
export const codeField = (view: View, name: string, label: string) =>
  input(view, {
    name,
    label,
    value: '',
    autocomplete: 'one-time-code',
    required: true,
    autofocus: true,
    also: { inputmode: 'numeric', spellcheck: 'false' },
  })
