// ASN.1 values and their encoding (DER), which node-forge represents as texts of bytes.
import forge from 'node-forge'

export type Asn1 = forge.asn1.Asn1
const { Class, Type, create } = forge.asn1

/** Decodes a value. Also accepts BER. @throws Error if the bytes are no value, or have more than one. */
export function decodeDer(bytes: Uint8Array): Asn1 {
  return forge.asn1.fromDer(Buffer.from(bytes).toString('latin1'))
}

export function encodeDer(value: Asn1): Buffer {
  return Buffer.from(forge.asn1.toDer(value).getBytes(), 'latin1')
}

/** Returns the bytes of the last of two values in a SEQUENCE, such as those of EncryptedPrivateKeyInfo. @throws TypeError if it is something else */
export function readLastOctets({ value }: Asn1): Buffer {
  const octets = typeof value === 'string' ? undefined : value[1]?.value
  if (typeof octets !== 'string') throw new TypeError('The value is not a SEQUENCE with an OCTET STRING.')
  return Buffer.from(octets, 'latin1')
}

export const sequence = (...values: Asn1[]): Asn1 => create(Class.UNIVERSAL, Type.SEQUENCE, true, values)

export const toOctets = (bytes: Uint8Array): Asn1 =>
  create(Class.UNIVERSAL, Type.OCTETSTRING, false, Buffer.from(bytes).toString('latin1'))

export const toSet = (...values: Asn1[]): Asn1 => create(Class.UNIVERSAL, Type.SET, true, values)

export const toOid = (id: string): Asn1 => create(Class.UNIVERSAL, Type.OID, false, forge.asn1.oidToDer(id).getBytes())

export const noValue = (): Asn1 => create(Class.UNIVERSAL, Type.NULL, false, '')

export const toInteger = (value: number): Asn1 =>
  create(Class.UNIVERSAL, Type.INTEGER, false, forge.asn1.integerToDer(value).getBytes())

/** A text, which is encoded as UTF-16. */
export const toText = (text: string): Asn1 => create(Class.UNIVERSAL, Type.BMPSTRING, false, text)

/** A value in an explicit context-specific tag 0. */
export const tagged = (value: Asn1): Asn1 => create(Class.CONTEXT_SPECIFIC, Type.NONE, true, [value])
