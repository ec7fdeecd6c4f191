import { html } from '../../lib/html.ts'
import { form, type Page, paragraph, submit } from './view.ts'

/** What an application asks to use; the names are texts, or keys of texts in `${…}`. */
export const consentPage =
  (application: string, items: readonly string[]): Page =>
  (view) => {
    const { text } = view
    return {
      title: text('oauthGrantTitle', { name: application }),
      content: [
        paragraph(text('oauthGrantRequest')),
        html`<ul>${items.map((item) => html`<li>${item.includes('${') ? text(item) : item}</li>`)}</ul>`,
        form(view, [], [submit(text('doYes'), 'accept'), submit(text('doNo'), 'cancel', 'plain')]),
      ],
    }
  }
