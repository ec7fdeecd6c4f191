// The body of an email of the workflow step `notify-user`.
import { escapeHtml } from '../../lib/html.ts'
import type { WorkflowNotification } from '../../service/messages/email-templates.ts'
import type { Translator } from '../pages/view.ts'

/** The texts of the body. */
interface NotificationTexts {
  readonly text: Translator
  /** The display name of the realm. */
  readonly realm: string
  /** The sentence of the template. */
  readonly message: string
}

/** Returns the body as text and as HTML. A message of the workflow replaces the sentences of the template; the values in it are no HTML. */
export function renderNotificationBody(
  { message: ownMessage, placeholders, recipient, days }: WorkflowNotification,
  { text, realm, message }: NotificationTexts,
): { readonly text: string; readonly html: string } {
  if (ownMessage !== undefined)
    return {
      text: replacePlaceholders(ownMessage, placeholders),
      html: `<p>${replacePlaceholders(ownMessage, placeholders, escapeHtml)}</p>`,
    }
  const sentences = [
    text('workflowNotification.greeting', recipient),
    message,
    ...(days > 0 ? [text('workflowNotification.remaining', days)] : []),
    text('workflowNotification.contact', realm),
  ]
  return {
    text: `${sentences.join('\n\n')}\n`,
    html: sentences.map((sentence) => `<p>${escapeHtml(sentence)}</p>`).join('\n'),
  }
}

/** Replaces the placeholders that have a value, or a default after a colon. The others stay. */
function replacePlaceholders(
  message: string,
  values: Readonly<Record<string, string>>,
  escapeValue: (value: string) => string = (value) => value,
): string {
  return message.replaceAll(/\$\{([^}:]+)(?::([^}]*))?\}/g, (placeholder, name: string, defaultValue?: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : defaultValue
    return value === undefined ? placeholder : escapeValue(value)
  })
}
