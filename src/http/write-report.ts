// Headers with what a caller should know about a change, as lists of structured fields (RFC 9651).
import type { OverwrittenDeclaration, WrittenUnenforcedValue } from '../service/context/context.ts'
import type { Operation } from './operation.ts'
import { errorSchema } from './responses.ts'

/** Adds the headers, and the response 409 of a source that refuses the change, to operations that change a realm. */
export function withWriteReport(operations: readonly Operation[]): Operation[] {
  return operations.map((operation) => {
    const { event, path, responses } = operation
    if (event === undefined || !path.startsWith('/admin/realms/{realm}')) return operation
    const withHeaders = Object.entries(responses).map(([status, response]) => [
      status,
      status.startsWith('2') ? { ...response, reported: true as const } : response,
    ])
    const conflict = responses[409] ? `${responses[409].description} Or a` : 'A'
    const refused = {
      description: `${conflict} source declares the changed fields and refuses the change.`,
      schema: errorSchema,
    }
    return { ...operation, responses: { ...Object.fromEntries(withHeaders), 409: refused } }
  })
}

/** The most items in a header. */
const MAX_ITEMS = 10

/** Renders the header Regent-Owned-By: sources with the object, the field and the position of the overwritten declaration. */
export function renderOwnedBy(declarations: readonly OverwrittenDeclaration[]): string {
  return renderList(
    declarations.map(({ source, object, path, position: at }) => {
      const field = path === undefined ? '' : `;field=${text(path)}`
      return `${text(source)};object=${text(object)}${field};at=${text(at)}`
    }),
  )
}

/** Renders the header Regent-Not-Enforced: fields with the object, the effect, the reason and the id of the provider, if any. */
export function renderNotEnforced(values: readonly WrittenUnenforcedValue[]): string {
  return renderList(
    values.map(({ path, object, effect, reason, provider }) => {
      const value = provider ? `;value=${text(provider.id)}` : ''
      return `${text(path)};object=${text(object)}${value};effect=${text(effect)};reason=${text(reason)}`
    }),
  )
}

const renderList = (items: readonly string[]): string => [...new Set(items)].slice(0, MAX_ITEMS).join(', ')

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
