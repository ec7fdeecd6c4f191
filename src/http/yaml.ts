// Bodies in YAML, where operations have them in both forms.
import type { FastifyRequest } from 'fastify'
import { dump } from 'js-yaml'
import { parseDocuments } from '../realm-file/yaml/parse-documents.ts'

/** The body as JSON. Throws DocumentError, which says where what is wrong. */
export function yamlAsJson(body: Buffer | undefined): Buffer {
  const [document] = parseDocuments('body', body?.toString('utf8') ?? '')
  return Buffer.from(JSON.stringify(document?.value ?? null))
}

/** The answer as YAML. */
export function asYaml(body: unknown): string {
  return dump(body, { noRefs: true })
}

/** Whether the caller wants YAML, and JSON not at all. Keycloak: YAML also where the caller does not say. */
export function wantsYaml({ headers: { accept = '' } }: FastifyRequest): boolean {
  return /\byaml\b/i.test(accept) && !/\bjson\b/i.test(accept)
}
