// The receivers of notifications that the settings name: those of a file, and a webhook for drift.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import * as z from 'zod'
import type { ServerSettings } from '../config.ts'
import { substituteVariables } from '../realm-file/substitute-variables.ts'
import type { Document } from '../realm-file/yaml/document.ts'
import { parseDocuments } from '../realm-file/yaml/parse-documents.ts'
import { DocumentError, toJsonPointer } from '../realm-file/yaml/problem.ts'
import { SourceError } from '../reconcile/read/file-source.ts'
import { listSchemaProblems } from '../reconcile/read/schema-problems.ts'
import {
  NOTIFICATION_TEXTS,
  NOTIFIED_EVENTS,
  type NotificationReceiver,
  type NotificationTemplate,
} from '../service/context/notification-receiver.ts'
import { readSecret } from './webhooks.ts'

/** The settings of notifications. */
type NotificationSettings = Pick<
  ServerSettings,
  'notifications' | 'driftWebhook' | 'driftWebhookSecretFile' | 'hostname' | 'console'
>

/** Creates the receivers. Throws DocumentError, or Error if a file cannot be read. */
export async function createNotificationReceivers(settings: NotificationSettings): Promise<NotificationReceiver[]> {
  const { notifications: file, driftWebhook: url, driftWebhookSecretFile: secretFile, hostname } = settings
  const consoleUrl =
    hostname !== undefined && settings.console === 'on' ? `${hostname.replace(/\/$/, '')}/console/master` : undefined
  const secret = secretFile === undefined ? undefined : await readSecret(secretFile)
  return [
    ...(file === undefined ? [] : await readReceiversFile(file, { env: process.env, consoleUrl })),
    ...(url === undefined
      ? []
      : [{ url, secret, format: 'json', events: ['drift'], templates: {}, consoleUrl } as const]),
  ]
}

const text = z.string('must be a text').min(1, 'must not be empty')
const names = z.array(text, 'must be a list of names, in which * matches any text').min(1, 'must not be empty')
const event = z.enum(NOTIFIED_EVENTS, `must be one of ${NOTIFIED_EVENTS.join(', ')}`)

const receiver = z.strictObject(
  {
    url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
    format: z.enum(['json', 'slack'], 'must be json or slack').default('json'),
    events: z
      .array(event, `must be a list of ${NOTIFIED_EVENTS.join(', ')}`)
      .min(1)
      .default([...NOTIFIED_EVENTS]),
    realms: names.optional(),
    sources: names.optional(),
    secret: text.optional(),
    templates: z.partialRecord(event, text, 'must be an object with texts by event').default({}),
  },
  'must be an object with a url',
)

const receiversFile = z.strictObject(
  { receivers: z.array(receiver, 'must be a list of receivers').min(1, 'must not be empty') },
  'must be an object with receivers',
)

/**
 * Reads the receivers in a file, with the values of its variables. Throws DocumentError with all problems, SourceError where the file
 * cannot be read.
 */
export async function readReceiversFile(
  file: string,
  { env, consoleUrl }: { readonly env: NodeJS.ProcessEnv; readonly consoleUrl: string | undefined },
): Promise<NotificationReceiver[]> {
  const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new SourceError(`The file of receivers ${file} cannot be read (${error.code}). Check --notifications.`)
  })
  const [written, second] = parseDocuments(file, content)
  if (!written)
    throw new SourceError(`The file of receivers ${file} is empty. Declare receivers, or omit --notifications.`)
  if (second) throw new DocumentError([{ position: second.start, message: 'a file of receivers is a single document' }])
  const document = substituteVariables(written, {
    env,
    readFile: (path) => readFileSync(resolve(dirname(file), path), 'utf8').trim(),
    isAllowed: () => true,
  })
  const { success, data, error } = receiversFile.safeParse(document.value)
  if (!success) {
    const listFields = (path: readonly unknown[]) => Object.keys(path.length ? receiver.shape : receiversFile.shape)
    throw new DocumentError(listSchemaProblems(document, error, { name: 'the file of receivers', listFields }))
  }
  return data.receivers.map(({ templates, ...fields }, at) => ({
    ...fields,
    templates: parseTemplates(document, at, templates),
    consoleUrl,
  }))
}

function parseTemplates(
  document: Document,
  receiver: number,
  templates: Readonly<Record<string, string>>,
): NotificationReceiver['templates'] {
  return Object.fromEntries(
    Object.entries(templates).map(([event, template]) => {
      const path = ['receivers', receiver, 'templates', event]
      return [event, parseTemplate(template, (message) => toError(document, path, message))]
    }),
  )
}

const toError = (document: Document, path: readonly (string | number)[], message: string): DocumentError =>
  new DocumentError([{ position: document.locate(path), message, path: toJsonPointer(path) }])

/** Parses a template such as `{{realm}}: {{summary}}`. Throws the error for a name that is unknown. */
function parseTemplate(template: string, createError: (message: string) => Error): NotificationTemplate {
  return template.split(/(\{\{.*?\}\})/s).map((part) => {
    const written = /^\{\{\s*(.*?)\s*\}\}$/s.exec(part)?.[1]
    if (written === undefined) return part
    const name = NOTIFICATION_TEXTS.find((text) => text === written)
    if (name === undefined)
      throw createError(`{{${written}}} is unknown: use ${NOTIFICATION_TEXTS.map((text) => `{{${text}}}`).join(', ')}`)
    return { name }
  })
}
