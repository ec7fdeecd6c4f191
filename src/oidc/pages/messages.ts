// Pages with a message.
import { type Html, html } from '../../lib/html.ts'
import { form, link, type Page, paragraph, submit } from './view.ts'

/** Options of a message. */
interface MessageOptions {
  /** The parameters of the text. */
  readonly params?: readonly (string | number)[]
  /** The address of a link back to the application. */
  readonly applicationUrl?: string | undefined
}

/** An error message; `key` is that of its text. */
export const errorPage =
  (key: string, { params = [], applicationUrl }: MessageOptions = {}): Page =>
  ({ text }) => ({
    title: text('errorTitle'),
    content: [
      html`<p class="problem" role="alert">${text(key, ...params)}</p>`,
      applicationUrl !== undefined && link(applicationUrl, text('backToApplication')),
    ],
  })

/** An information message; `key` is that of its text. */
export const infoPage =
  (key: string, { params = [], applicationUrl }: MessageOptions = {}): Page =>
  ({ text }) => ({
    title: text('infoTitle'),
    content: [
      html`<p class="info" role="status">${text(key, ...params)}</p>`,
      applicationUrl !== undefined && link(applicationUrl, text('backToApplication')),
    ],
  })

/** Names the user who is logged in, with a link to log out; without a user, says that there is none. */
export const accountPage =
  (user: { readonly username: string; readonly logoutUrl: string } | undefined): Page =>
  ({ text }) => ({
    title: text('accountTitle'),
    content: user
      ? [paragraph(text('signedInMessage', user.username)), link(user.logoutUrl, text('doLogout'))]
      : [paragraph(text('notSignedInMessage'))],
  })

/** Asks the user to confirm a logout. */
export const logoutPage: Page = (view) => ({
  title: view.text('logoutConfirmTitle'),
  content: [
    paragraph(view.text('logoutConfirmHeader')),
    form(view, [], submit(view.text('doLogout'), 'confirmLogout')),
  ],
})

/** Loads the front-channel logout URLs of clients in frames, then redirects the browser. */
export const loggedOutPage =
  (frames: readonly string[], redirectUri: string | undefined): Page =>
  ({ text }) => ({
    title: text('logoutConfirmTitle'),
    content: [
      html`<p class="info" role="status">${text('successLogout')}</p>`,
      frames.map((address) => html`<iframe src="${address}" hidden title="${text('doLogout')}"></iframe>`),
      redirectUri !== undefined && [
        link(redirectUri, text('doContinue')),
        html`<script>addEventListener('load', () => location.replace(document.querySelector('main a').href))</script>`,
      ],
    ],
  })

/** The form of an authorization response; `content` gets the label of its button. */
export const formPostPage =
  (content: (button: string) => Html): Page =>
  ({ text }) => ({ title: text('formPostTitle'), content: content(text('doContinue')) })
