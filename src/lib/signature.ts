import { createHmac } from 'node:crypto'

/** The signature of a body as webhooks carry it in `X-Hub-Signature-256`: HMAC-SHA256 by a secret that both sides know. */
export function signatureOf(body: string | Buffer, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}
