// The webhook for pushes to git repositories, in the format of GitHub.
import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { JsonSchema } from '../../kinds/json-schema.ts'
import { signWebhook } from '../../lib/webhook-signature.ts'
import { HttpError } from '../errors.ts'
import { WEBHOOK_LIMIT, WEBHOOKS_AT_ONCE } from '../server/limits.ts'

/** Receives the push webhooks of git hosts that are signed with its secret. */
export interface WebhookReceiver {
  readonly secret: string
  /** Called after a push to the repository with these URLs. Without URLs the repository is unknown. */
  pushed(urls: readonly string[]): void
}

/** The receivers of webhooks for git repositories. */
export interface Webhook {
  /** The receiver for all sources. Absent: the server has no secret for it. */
  readonly all?: WebhookReceiver | undefined
  /** Returns the receiver of one source with its own secret. Absent: no source has one. */
  readonly source?: ((name: string) => Promise<WebhookReceiver | undefined>) | undefined
}

const PATH = '/regent/v1/webhook'

/** The path in OpenAPI. It is not an operation of administrators. */
export const webhookPath: Record<string, JsonSchema> = {
  [PATH]: {
    post: {
      operationId: 'receiveWebhook',
      tags: ['Sources'],
      summary: 'Receive a push webhook of a git repository, and reconcile its sources',
      description:
        'The format is that of GitHub. Without `source`, the secret is that of the setting `--source-webhook-secret-file`.',
      security: [],
      parameters: [
        {
          name: 'source',
          in: 'query',
          description:
            'Reads only this `RealmSource` of Kubernetes, `kubernetes:<namespace>/<name>`, with its own secret.',
          schema: { type: 'string' },
        },
        {
          name: 'X-Hub-Signature-256',
          in: 'header',
          required: true,
          description: '`sha256=` and the HMAC-SHA256 of the body with the secret, in hexadecimal.',
          schema: { type: 'string' },
        },
        {
          name: 'X-GitHub-Event',
          in: 'header',
          description: 'Type of event. `ping` has no effect.',
          schema: { type: 'string' },
        },
      ],
      requestBody: {
        required: true,
        description: 'The repository is found by its URLs. If none matches a source, all sources are read.',
        content: {
          'application/json': {
            schema: {
              type: 'object',
              properties: {
                repository: {
                  type: 'object',
                  description: 'The repository, with its URLs in `clone_url`, `ssh_url`, `git_url` and others.',
                },
              },
            },
          },
        },
      },
      responses: {
        202: { description: 'The sources are being read.' },
        204: { description: 'The event is not a push.' },
        400: { description: 'The body is not JSON.' },
        401: { description: 'The signature is invalid, or the source has no secret.' },
        404: { description: 'The server has no webhook secret.' },
        413: { description: 'The body is larger than 25 MB.' },
        503: { description: 'Too many webhooks are being read. Send it again.' },
      },
    },
  },
}

/** Adds the route that receives push webhooks. */
export function serveWebhook(app: FastifyInstance, webhook: Webhook): void {
  const receivers = new WeakMap<FastifyRequest, WebhookReceiver>()
  let reading = 0
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: WEBHOOK_LIMIT }, (_request, body, parsed) =>
    parsed(null, body),
  )
  // Read the body only if the signature has the right form.
  app.addHook('onRequest', async (request) => {
    const { source } = request.query as { readonly source?: unknown }
    if (source === undefined && !webhook.all)
      throw webhookError(404, 'The server has no webhook secret. Set --source-webhook-secret-file, or name a source.')
    const receiver = source === undefined ? webhook.all : await webhook.source?.(String(source))
    if (!receiver || !/^sha256=[\da-f]{64}$/.test(readSignature(request))) throw wrongSignature()
    if (reading >= WEBHOOKS_AT_ONCE) throw webhookError(503, 'Too many webhooks are being read. Send it again.')
    receivers.set(request, receiver)
    reading++
    request.raw.once('close', () => reading--)
  })
  app.post(PATH, async (request, reply) => {
    const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0)
    const receiver = receivers.get(request)!
    if (!hasValidSignature(body, receiver.secret, readSignature(request))) throw wrongSignature()
    if (request.headers['x-github-event'] === 'ping') return reply.code(204).send()
    receiver.pushed(listRepositoryUrls(textOf(body, request.headers['content-type'])))
    return reply.code(202).send()
  })
}

function readSignature({ headers }: FastifyRequest): string {
  return String(headers['x-hub-signature-256'] ?? '')
}

const wrongSignature = () => webhookError(401, 'The signature is invalid.')

function hasValidSignature(body: Buffer, secret: string, signature: string): boolean {
  const expected = Buffer.from(signWebhook(body, secret))
  const actual = Buffer.from(signature)
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}

/** Returns the JSON of the body. A form has it in the field `payload`. */
function textOf(body: Buffer, type = ''): string {
  const text = body.toString('utf8')
  return /^application\/x-www-form-urlencoded\b/i.test(type) ? (new URLSearchParams(text).get('payload') ?? '') : text
}

/** Lists the URLs of the repository: all members whose name ends in `url`. */
function listRepositoryUrls(text: string): string[] {
  let payload: { readonly repository?: Readonly<Record<string, unknown>> | null } | null
  try {
    payload = JSON.parse(text)
  } catch {
    throw webhookError(400, 'The body is not JSON.')
  }
  const repository = Object.entries(payload?.repository ?? {})
  return repository.flatMap(([name, value]) => (/url$/.test(name) && typeof value === 'string' && value ? [value] : []))
}

function webhookError(status: number, error_description: string): HttpError {
  const error = { 401: 'unauthorized', 404: 'not_found', 503: 'unavailable' }[status] ?? 'invalid_request'
  return new HttpError(status, { error, error_description })
}
