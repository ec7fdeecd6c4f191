// The receivers of notifications in the settings of the server, such as a channel of Slack.

/** The events that receivers are notified of. */
export const NOTIFIED_EVENTS = ['applied', 'pendingApproval', 'refused', 'drift'] as const

/** An event that receivers are notified of. */
export type NotifiedEvent = (typeof NOTIFIED_EVENTS)[number]

/** The texts of a notification, which templates refer to. */
export const NOTIFICATION_TEXTS = [
  'text',
  'event',
  'realm',
  'source',
  'revision',
  'author',
  'summary',
  'plan',
  'url',
] as const

/** A template: literal texts, and names of texts of the notification. */
export type NotificationTemplate = readonly (string | { readonly name: (typeof NOTIFICATION_TEXTS)[number] })[]

/** A receiver of notifications. */
export interface NotificationReceiver {
  readonly url: string
  /** Signs the notifications. */
  readonly secret?: string | undefined
  /** `json`: an object with the event. `slack`: an object with a text in the markup of Slack. */
  readonly format: 'json' | 'slack'
  readonly events: readonly NotifiedEvent[]
  /** The realms and the sources of which it is notified, as patterns in which `*` matches any text. Absent: all. */
  readonly realms?: readonly string[] | undefined
  readonly sources?: readonly string[] | undefined
  readonly templates: Readonly<Partial<Record<NotifiedEvent, NotificationTemplate>>>
  /** The URL of the console, for links to its pages. */
  readonly consoleUrl?: string | undefined
}
