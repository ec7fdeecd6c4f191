// Entries of LDAP directories: attributes by name regardless of case, and values as bytes.

/** A range of the values of an attribute, as Active Directory returns them. */
export interface ValueRange {
  readonly attribute: string
  /** The first value that is missing; undefined: the range has the last value. */
  readonly next: number | undefined
}

/** An entry. Names of attributes are in lower case. */
export interface LdapEntry {
  readonly dn: string
  readonly attributes: ReadonlyMap<string, readonly Buffer[]>
  /** Attributes of which the entry has only a range of the values. */
  readonly ranges: readonly ValueRange[]
}

/** The form in which the library returns entries. */
type RawEntry = { readonly dn: string } & Readonly<Record<string, string | string[] | Buffer | Buffer[]>>

const RANGE = /^(.*);range=\d+-(\d+|\*)$/i

/** Returns an entry with the names of its attributes in lower case. */
export function toEntry({ dn, ...raw }: RawEntry): LdapEntry {
  const attributes = new Map<string, Buffer[]>()
  const ranges: ValueRange[] = []
  for (const [name, value] of Object.entries(raw)) {
    const [, ranged, last] = RANGE.exec(name) ?? []
    const attribute = (ranged ?? name).toLowerCase()
    const values = [value].flat().map((single) => (Buffer.isBuffer(single) ? single : Buffer.from(single)))
    if (values.length) attributes.set(attribute, [...(attributes.get(attribute) ?? []), ...values])
    if (last !== undefined) ranges.push({ attribute, next: last === '*' ? undefined : Number(last) + 1 })
  }
  return { dn, attributes, ranges }
}

/** Returns the values of an attribute as texts. */
export function readValues({ attributes }: LdapEntry, name: string): string[] {
  return (attributes.get(name.toLowerCase()) ?? []).map((value) => value.toString('utf8'))
}

/** Returns the first value of an attribute as text. */
export function readValue(entry: LdapEntry, name: string): string | undefined {
  return readValues(entry, name)[0]
}

/** The orders of the bytes of binary UUIDs: in Active Directory, the first three parts are little-endian; in eDirectory, none. */
const byteOrders = {
  mixed: [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15],
  big: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
} as const

/** The order of the bytes of a binary UUID. */
export type UuidByteOrder = keyof typeof byteOrders

/** Returns the text of a binary UUID. Undefined unless it has 16 bytes. */
export function decodeUuid(bytes: Buffer, order: UuidByteOrder): string | undefined {
  if (bytes.length !== 16) return undefined
  const hex = byteOrders[order].map((at) => bytes[at]!.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Returns the bytes of a UUID. Undefined unless the text is a UUID. */
export function encodeUuid(text: string, order: UuidByteOrder): Buffer | undefined {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return undefined
  const bytes = Buffer.from(text.replaceAll('-', ''), 'hex')
  return Buffer.from(byteOrders[order].map((at) => bytes[at]!))
}
