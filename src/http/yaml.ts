// Bodies in YAML, for operations that accept and return YAML as well as JSON.
import type { FastifyRequest } from 'fastify'
import { dump } from 'js-yaml'
import { parseDocuments } from '../realm-file/yaml/parse-documents.ts'

/** Converts a YAML body to JSON. @throws DocumentError with positions if it is invalid */
export function yamlAsJson(body: Buffer | undefined): Buffer {
  const [document] = parseDocuments('body', body?.toString('utf8') ?? '')
  return Buffer.from(JSON.stringify(document?.value ?? null))
}

/** Renders a response body as YAML. */
export function asYaml(body: unknown): string {
  return dump(body, { noRefs: true })
}

/** Whether Accept has YAML and not JSON. Keycloak: YAML is also the default. */
export function wantsYaml({ headers: { accept = '' } }: FastifyRequest): boolean {
  return /\byaml\b/i.test(accept) && !/\bjson\b/i.test(accept)
}
