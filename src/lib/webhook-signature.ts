import { createHmac } from 'node:crypto'

/** Returns the `X-Hub-Signature-256` header of a webhook: the HMAC-SHA256 of the body with the shared secret. */
export function signWebhook(body: string | Buffer, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}
