// Pages that only tell something.
import { type Html, html } from '../../lib/html.ts'
import { form, link, type Page, paragraph, submit } from './view.ts'

/** What went wrong. The way back leads to the application, where that is known. */
export const errorPage =
  (key: string, about: readonly (string | number)[], back?: string): Page =>
  ({ text }) => ({
    title: text('errorTitle'),
    content: [
      html`<p class="problem" role="alert">${text(key, ...about)}</p>`,
      back !== undefined && link(back, text('backToApplication')),
    ],
  })

/** Something to know. */
export const infoPage =
  (key: string, about: readonly (string | number)[] = [], back?: string): Page =>
  ({ text }) => ({
    title: text('infoTitle'),
    content: [
      html`<p class="info" role="status">${text(key, ...about)}</p>`,
      back !== undefined && link(back, text('backToApplication')),
    ],
  })

/** Whether somebody really wants to log out. */
export const logoutPage: Page = (view) => ({
  title: view.text('logoutConfirmTitle'),
  content: [
    paragraph(view.text('logoutConfirmHeader')),
    form(view, [], submit(view.text('doLogout'), 'confirmLogout')),
  ],
})

/** The form that brings an answer to an application. */
export const formPostPage =
  (content: (button: string) => Html): Page =>
  ({ text }) => ({ title: text('formPostTitle'), content: content(text('doContinue')) })
