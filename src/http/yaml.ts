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

/** Whether a caller receives YAML rather than JSON. Keycloak: YAML is the default, also for callers who accept neither. */
export function prefersYaml({ headers: { accept = '' } }: FastifyRequest): boolean {
  return findPreference(accept, 'application/yaml') >= findPreference(accept, 'application/json')
}

/** Returns how much a caller prefers a media type: by the weight of the most specific range in Accept, then by how specific it is. 0: not accepted. */
function findPreference(accept: string, type: string): number {
  const ranges = ['*/*', type.replace(/\/.*/, '/*'), type]
  const matches = accept.split(',').flatMap((text) => {
    const [range = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    const specificity = ranges.indexOf(range)
    return specificity < 0 ? [] : [{ specificity, weight: Number(weight?.slice(2) ?? 1) }]
  })
  const [best] = matches.sort((a, b) => b.specificity - a.specificity)
  return best?.weight ? best.weight * 10 + best.specificity : 0
}
