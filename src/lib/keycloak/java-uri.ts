// Keycloak: URIs follow java.net.URI: RFC 2396, and letters of any script.

const path = `(?:[\\w\\-!.~'()*:@&=+$,;/]|[^\\x00-\\x9f\\p{Z}]|%[\\dA-Fa-f]{2})*`
const query = path.replace('/]', '/?[\\]]')
const authority = `(?:[^@/?#]*@)?\\[[\\dA-Fa-f:.%]+\\](?::\\d*)?|${path.replace('/]', ']').replace(/\*$/, '+')}`
const rooted = `(?:\\/\\/(?:(?:${authority})(?=[/?#]|$)|(?=[/?#]))(?:\\/${path})?|\\/(?!\\/)${path})(?:\\?${query})?`
const uri = new RegExp(
  `^(?:[A-Za-z][A-Za-z\\d+.\\-]*:(?:${rooted}|(?=[^/#])${query})|${rooted}|(?![^/?#]*:)(?!\\/)${path}(?:\\?${query})?)(?:#${query})?$`,
  'u',
)

/** Whether the text is a URI, or a relative reference. */
export function isJavaUri(text: string): boolean {
  return uri.test(text)
}
