// XML without documents' own types: no entity is expanded, and nothing is fetched.
import { DOMParser, type Element, onErrorStopParsing } from '@xmldom/xmldom'

export type { Element } from '@xmldom/xmldom'

/** The root of a text; undefined where it is not well-formed, or says what its types are. */
export function readXml(text: string): Element | undefined {
  try {
    const document = new DOMParser({ onError: onErrorStopParsing }).parseFromString(text.trim(), 'text/xml')
    return document.doctype ? undefined : (document.documentElement ?? undefined)
  } catch {
    return undefined
  }
}

/** The children of an element of that name. */
export function children(element: Element, namespace: string, name: string): Element[] {
  return [...element.childNodes].filter(
    (one): one is Element => one.namespaceURI === namespace && one.localName === name,
  )
}

/** An element as text. Attributes that are undefined are left out. */
export function xml(
  name: string,
  attributes: Readonly<Record<string, string | undefined>>,
  content: readonly string[] = [],
): string {
  const stated = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}="${escaped(value)}"`],
  )
  return `<${name}${stated.join('')}>${content.join('')}</${name}>`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** A text as XML has it. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (one) => ENTITIES[one]!)
}
