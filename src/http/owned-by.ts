// The Regent-Owned-By header: the declarations that a call overwrote, as a list of structured fields (RFC 9651).
import type { OverwrittenDeclaration } from '../service/context/context.ts'
import type { Operation } from './operation.ts'
import { errorSchema } from './responses.ts'

/** Adds the header, and the response 409 of a source that refuses the change, to operations that change a realm. */
export function withOwnershipResponses(operations: readonly Operation[]): Operation[] {
  return operations.map((operation) => {
    const { event, path, responses } = operation
    if (event === undefined || !path.startsWith('/admin/realms/{realm}')) return operation
    const withHeader = Object.entries(responses).map(([status, response]) => [
      status,
      status.startsWith('2') ? { ...response, owned: true as const } : response,
    ])
    const conflict = responses[409] ? `${responses[409].description} Or a` : 'A'
    const refused = {
      description: `${conflict} source declares the changed fields and refuses the change.`,
      schema: errorSchema,
    }
    return { ...operation, responses: { ...Object.fromEntries(withHeader), 409: refused } }
  })
}

/** The most declarations in the header. */
const MAX_DECLARATIONS = 10

/** Renders the header: sources with the object, the field and the position of the declaration. */
export function renderOwnedBy(all: readonly OverwrittenDeclaration[]): string {
  const items = all.map(({ source, object, path, position: at }) => {
    const field = path === undefined ? '' : `;field=${text(path)}`
    return `${text(source)};object=${text(object)}${field};at=${text(at)}`
  })
  return [...new Set(items)].slice(0, MAX_DECLARATIONS).join(', ')
}

/** Renders a String, or a Display String if it is not ASCII. */
function text(value: string): string {
  if (/^[ -~]*$/.test(value)) return `"${value.replace(/[\\"]/g, '\\$&')}"`
  const escaped = [...Buffer.from(value)].map((byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x25
      ? `%${byte.toString(16).padStart(2, '0')}`
      : String.fromCharCode(byte),
  )
  return `%"${escaped.join('')}"`
}
