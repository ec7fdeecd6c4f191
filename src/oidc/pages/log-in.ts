// The pages on which users authenticate.
import { html } from '../../lib/html.ts'
import { checkbox, form, input, link, type Page, paragraph, submit, type View } from './view.ts'

/** Options of the login page. */
export interface LoginPageOptions {
  /** The inputs of the form. */
  readonly inputs: { readonly username: boolean; readonly password: boolean }
  /** The username of an identified user. */
  readonly username?: string | undefined
  /** The user may enter their email address as username. */
  readonly byEmail: boolean
  /** The form has a checkbox to stay logged in. */
  readonly rememberMe: boolean
  readonly isRemembered: boolean
  /** The page has a link for a forgotten password. */
  readonly resetPassword: boolean
  /** The page has a link to register. */
  readonly registration: boolean
}

/** Asks for username and password, or for one of them. */
export const loginPage =
  ({ inputs, username, ...options }: LoginPageOptions): Page =>
  (view) => {
    const { text, address } = view
    return {
      title: text('loginAccountTitle'),
      content: [
        username !== undefined && attemptedUser(view, username),
        form(
          view,
          [
            username === undefined && inputs.username && usernameInput(view, options),
            inputs.password && passwordInput(view, username !== undefined),
            options.rememberMe && checkbox('rememberMe', text('rememberMe'), options.isRemembered),
          ],
          submit(text('doLogIn')),
        ),
        inputs.password && options.resetPassword && link(address('reset-credentials'), text('doForgotPassword')),
        options.registration &&
          paragraph(html`${text('noAccount')} <a href="${address('registration')}">${text('doRegister')}</a>`),
      ],
    }
  }

function usernameInput(view: View, { byEmail }: Pick<LoginPageOptions, 'byEmail'>) {
  return input(view, {
    name: 'username',
    label: view.text(byEmail ? 'usernameOrEmail' : 'username'),
    autocomplete: 'username',
    required: true,
    autofocus: view.problem === undefined || view.values.username === undefined,
    attributes: { autocapitalize: 'none', spellcheck: 'false' },
  })
}

function passwordInput(view: View, hasUser: boolean) {
  return input(view, {
    name: 'password',
    label: view.text('password'),
    type: 'password',
    autocomplete: 'current-password',
    required: true,
    autofocus: hasUser || (view.problem !== undefined && view.values.username !== undefined),
  })
}

/** Shows the identified user, with a link for another user. */
const attemptedUser = ({ text, address }: View, username: string) =>
  html`<p>${text('attemptedUser', username)} <a href="${address('restart')}">${text('restartLoginTooltip')}</a></p>`

/** An authenticator app of the user. */
export interface OtpDevice {
  /** The id of the credential. */
  readonly id: string
  readonly label: string
}

/** Asks for a one-time code. A user with several authenticator apps selects one. */
export const otpPage =
  (
    username: string,
    { devices, selected }: { readonly devices: readonly OtpDevice[]; readonly selected: string },
  ): Page =>
  (view) => {
    const { text } = view
    return {
      title: text('loginOtpTitle'),
      content: [
        attemptedUser(view, username),
        form(
          view,
          [
            devices.length > 1 &&
              html`<fieldset><legend>${text('loginOtpDevice')}</legend>${devices.map(
                ({ id, label }) =>
                  html`<div class="tick"><input type="radio" id="device-${id}" name="selectedCredentialId" value="${id}"${
                    id === selected && html` checked`
                  }><label for="device-${id}">${label}</label></div>`,
              )}</fieldset>`,
            otpInput(view, 'otp', text('loginOtpOneTime')),
          ],
          submit(text('doLogIn')),
        ),
      ],
    }
  }

/** The input of a one-time code. */
export const otpInput = (view: View, name: string, label: string) =>
  input(view, {
    name,
    label,
    value: '',
    autocomplete: 'one-time-code',
    required: true,
    autofocus: true,
    attributes: { inputmode: 'numeric', spellcheck: 'false' },
  })
