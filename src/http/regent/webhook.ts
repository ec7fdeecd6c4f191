// Told by webhooks, in the form of GitHub, that something was pushed to a repository.
import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { JsonSchema } from '../../kinds/json-schema.ts'
import { signWebhook } from '../../lib/webhook-signature.ts'
import { HttpError } from '../errors.ts'
import { WEBHOOK_LIMIT, WEBHOOKS_AT_ONCE } from '../server/limits.ts'

/** Who is told, and how they know that it is true. */
export interface Receiver {
  readonly secret: string
  /** Something was pushed to the repository that has these addresses; none: nobody knows to which. */
  pushed(urls: readonly string[]): void
}

/** Those who are told. */
export interface Webhook {
  /** Absent: no secret is set for all. */
  readonly all?: Receiver | undefined
  /** The one who has a secret for the source of that name alone; absent: no source has one. */
  readonly source?: ((name: string) => Promise<Receiver | undefined>) | undefined
}

const PATH = '/regent/v1/webhook'

/** Its place in OpenAPI: no administrator calls it. */
export const webhookPath: Record<string, JsonSchema> = {
  [PATH]: {
    post: {
      operationId: 'receiveWebhook',
      tags: ['Regent'],
      summary: 'Receive a push webhook of a git repository, and reconcile its sources',
      description:
        'In the form in which GitHub tells of a push. Without a source, the secret is that of the setting `--source-webhook-secret-file`.',
      security: [],
      parameters: [
        {
          name: 'source',
          in: 'query',
          description:
            'A `RealmSource` of Kubernetes, as `kubernetes:<namespace>/<name>`: only it is read, and the secret is its own.',
          schema: { type: 'string' },
        },
        {
          name: 'X-Hub-Signature-256',
          in: 'header',
          required: true,
          description: '`sha256=` and, in hexadecimal, the HMAC-SHA256 of the body by the secret.',
          schema: { type: 'string' },
        },
        {
          name: 'X-GitHub-Event',
          in: 'header',
          description: 'What happened; `ping` says that nothing did.',
          schema: { type: 'string' },
        },
      ],
      requestBody: {
        required: true,
        description: 'The repository is found by its addresses; where none is known, the sources of all are read.',
        content: {
          'application/json': {
            schema: {
              type: 'object',
              properties: {
                repository: {
                  type: 'object',
                  description: 'The repository, with its addresses in `clone_url`, `ssh_url`, `git_url` and others.',
                },
              },
            },
          },
        },
      },
      responses: {
        202: { description: 'The sources are being read.' },
        204: { description: 'Nothing was pushed.' },
        400: { description: 'The body is no JSON.' },
        401: { description: 'The signature is not that of the secret, or the source has none.' },
        404: { description: 'No secret is set.' },
        413: { description: 'The body is larger than 25 MB.' },
        503: { description: 'Too many webhooks are being read. Their hosts send them again.' },
      },
    },
  },
}

/** Adds the route. */
export function serveWebhook(app: FastifyInstance, webhook: Webhook): void {
  const receivers = new WeakMap<FastifyRequest, Receiver>()
  let reading = 0
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: WEBHOOK_LIMIT }, (_request, body, parsed) =>
    parsed(null, body),
  )
  // Before the body is read: only a signature that could be right makes it worth that.
  app.addHook('onRequest', async (request) => {
    const { source } = request.query as { readonly source?: unknown }
    if (source === undefined && !webhook.all) throw refusal(404, 'no secret is set for the webhooks of all sources')
    const receiver = source === undefined ? webhook.all : await webhook.source?.(String(source))
    if (!receiver || !/^sha256=[\da-f]{64}$/.test(signatureIn(request))) throw wrongSignature()
    if (reading >= WEBHOOKS_AT_ONCE) throw refusal(503, 'Too many webhooks are being read. Send it again.')
    receivers.set(request, receiver)
    reading++
    request.raw.once('close', () => reading--)
  })
  app.post(PATH, async (request, reply) => {
    const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0)
    const receiver = receivers.get(request)!
    if (!isSigned(body, receiver.secret, signatureIn(request))) throw wrongSignature()
    if (request.headers['x-github-event'] === 'ping') return reply.code(204).send()
    receiver.pushed(addressesIn(textOf(body, request.headers['content-type'])))
    return reply.code(202).send()
  })
}

function signatureIn({ headers }: FastifyRequest): string {
  return String(headers['x-hub-signature-256'] ?? '')
}

const wrongSignature = () => refusal(401, 'the signature is not that of the secret')

function isSigned(body: Buffer, secret: string, signature: string): boolean {
  const right = Buffer.from(signWebhook(body, secret))
  const given = Buffer.from(signature)
  return given.length === right.length && timingSafeEqual(given, right)
}

/** A form has the JSON in a field. */
function textOf(body: Buffer, type = ''): string {
  const text = body.toString('utf8')
  return /^application\/x-www-form-urlencoded\b/i.test(type) ? (new URLSearchParams(text).get('payload') ?? '') : text
}

/** The addresses of the repository: whatever its host calls them. */
function addressesIn(text: string): string[] {
  let payload: { readonly repository?: Readonly<Record<string, unknown>> | null } | null
  try {
    payload = JSON.parse(text)
  } catch {
    throw refusal(400, 'the body is no JSON')
  }
  const repository = Object.entries(payload?.repository ?? {})
  return repository.flatMap(([name, value]) => (/url$/.test(name) && typeof value === 'string' && value ? [value] : []))
}

function refusal(status: number, error_description: string): HttpError {
  const error = { 401: 'unauthorized', 404: 'not_found', 503: 'unavailable' }[status] ?? 'invalid_request'
  return new HttpError(status, { error, error_description })
}
