import { html } from '../../lib/html.ts'
import { link, type Page } from './view.ts'

/** Applications learn in frames that somebody has logged out; then the browser goes on. */
export const loggedOutPage =
  (frames: readonly string[], goal: string | undefined): Page =>
  ({ text }) => ({
    title: text('logoutConfirmTitle'),
    content: [
      html`<p class="info" role="status">${text('successLogout')}</p>`,
      frames.map((address) => html`<iframe src="${address}" hidden title="${text('doLogout')}"></iframe>`),
      goal !== undefined && [
        link(goal, text('doContinue')),
        html`<script>addEventListener('load', () => location.replace(document.querySelector('main a').href))</script>`,
      ],
    ],
  })
