// XML without document type definitions: no entity is expanded, and nothing is fetched.
import type { Element } from '@xmldom/xmldom'

export type { Element } from '@xmldom/xmldom'

/** Returns the root element of a text; undefined if the text is not well-formed, or has a document type. */
export async function parseXml(text: string): Promise<Element | undefined> {
  // Loaded on demand, since it is large and rarely needed.
  const { DOMParser, onErrorStopParsing } = await import('@xmldom/xmldom')
  try {
    const document = new DOMParser({ onError: onErrorStopParsing }).parseFromString(text.trim(), 'text/xml')
    return document.doctype ? undefined : (document.documentElement ?? undefined)
  } catch {
    return undefined
  }
}

/** Returns the children of an element that have the name. */
export function listChildElements(element: Element, namespace: string, name: string): Element[] {
  return [...element.childNodes].filter(
    (child): child is Element => child.namespaceURI === namespace && child.localName === name,
  )
}

/** Returns the text of an element. Undefined attributes are omitted. */
export function renderElement(
  name: string,
  attributes: Readonly<Record<string, string | undefined>>,
  content: readonly string[] = [],
): string {
  const attributeTexts = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}="${escapeXml(value)}"`],
  )
  return `<${name}${attributeTexts.join('')}>${content.join('')}</${name}>`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Returns the text with the characters that have a meaning in XML escaped. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character]!)
}
