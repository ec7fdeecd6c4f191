const WORD = /(?:[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+|"(?:[ !#-[\]-~\u0080-\uffff]|\\["\\])+")/.source
const LABEL = /[a-z\d\u0080-\uffff](?:[a-z\d\u0080-\uffff-]{0,61}[a-z\d\u0080-\uffff])?/.source
const LITERAL = /\[(?:\d{1,3}(?:\.\d{1,3}){3}|IPv6:[\da-f:.]+)\]/.source

const LOCAL = new RegExp(`^${WORD}(?:\\.${WORD})*$`)
const DOMAIN = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*|${LITERAL})$`, 'i')

/** Whether the text is an email address. `unicode` allows characters beyond ASCII before the @, `longest` limits their number. */
export function isEmailAddress(text: string, unicode: boolean, longest = 64): boolean {
  const at = text.lastIndexOf('@')
  const [local, domain] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)]
  if (local.length > longest || domain.length > 255) return false
  return LOCAL.test(local) && DOMAIN.test(domain) && (unicode || !/[\u0080-\uffff]/.test(local))
}
