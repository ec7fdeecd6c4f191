// Keycloak: URIs are what java.net.URI reads: RFC 2396 with letters of any script.

const path = `(?:[\\w\\-!.~'()*:@&=+$,;/]|[^\\x00-\\x9f\\p{Z}]|%[\\dA-Fa-f]{2})*`
const query = path.replace('/]', '/?[\\]]')
const authority = `(?:[^@/?#]*@)?\\[[\\dA-Fa-f:.%]+\\](?::\\d*)?|${path.replace('/]', ']').replace(/\*$/, '+')}`
const rooted = `(?:\\/\\/(?:(?:${authority})(?=[/?#]|$)|(?=[/?#]))(?:\\/${path})?|\\/(?!\\/)${path})(?:\\?${query})?`
const uri = new RegExp(
  `^(?:[A-Za-z][A-Za-z\\d+.\\-]*:(?:${rooted}|(?=[^/#])${query})|${rooted}|(?![^/?#]*:)(?!\\/)${path}(?:\\?${query})?)(?:#${query})?$`,
  'u',
)

/** Whether a text is a URI, or a reference relative to one. */
export function isJavaUri(text: string): boolean {
  return uri.test(text)
}
