// The receivers of the audit trail that the settings name: a file or standard output, and a webhook.
import { appendFile } from 'node:fs/promises'
import type { ServerSettings } from '../config.ts'
import { getErrorMessage } from '../lib/error-message.ts'
import { signWebhook } from '../lib/webhook-signature.ts'
import { deliverWebhook } from '../oidc/mail/deliver.ts'
import type { AuditSink } from '../service/context/store-types.ts'
import type { AuditReceiver, AuditReceivers } from '../service/messages/audit-deliveries.ts'
import { readSecret } from './webhooks.ts'

/** The settings of the audit trail. */
type AuditSettings = Partial<Pick<ServerSettings, 'auditLog' | 'auditWebhook' | 'auditWebhookSecretFile'>>

/** Returns the kinds of receivers that the settings name. */
export function listAuditSinks({ auditLog, auditWebhook }: AuditSettings): AuditSink[] {
  return [...(auditLog ? (['log'] as const) : []), ...(auditWebhook ? (['webhook'] as const) : [])]
}

/** Creates the receivers. @throws Error if the file cannot be written, or the secret cannot be read. */
export async function createAuditReceivers({
  auditLog,
  auditWebhook: url,
  auditWebhookSecretFile: secretFile,
}: AuditSettings): Promise<AuditReceivers> {
  const secret = secretFile === undefined ? undefined : await readSecret(secretFile)
  return {
    ...(auditLog && { log: auditLog === 'stdout' ? printEntries : await openAuditFile(auditLog) }),
    ...(url && { webhook: createAuditWebhook(url, secret) }),
  }
}

const toLines = (entries: readonly object[]): string => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')

function printEntries(entries: readonly object[]): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(toLines(entries), (error) => (error ? reject(error) : resolve()))
  })
}

/** Opens the file for each batch, so that it may be moved away, and returns when its content is on the disk. */
async function openAuditFile(file: string): Promise<AuditReceiver> {
  const append = (text: string) => appendFile(file, text, { flush: true, mode: 0o600 })
  await append('').catch((error: unknown) => {
    throw new Error(`The audit log cannot be written: ${getErrorMessage(error)}`, { cause: error })
  })
  return (entries) => append(toLines(entries))
}

function createAuditWebhook(url: string, secret: string | undefined): AuditReceiver {
  return async (entries) => {
    const body = JSON.stringify({ entries })
    const signature = secret && { signature: signWebhook(body, secret) }
    const id = entries.flatMap((entry) => ('id' in entry ? String(entry.id) : [])).at(0) ?? ''
    await deliverWebhook({ message: { url, event: 'audit', body, ...signature }, id })
  }
}
