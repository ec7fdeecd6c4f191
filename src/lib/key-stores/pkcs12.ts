// PKCS#12 files. RFC 7292. Keys have the password of the store, as keytool and OpenSSL expect.
import { createHash, createPrivateKey, randomBytes } from 'node:crypto'
import forge from 'node-forge'
import {
  type Asn1,
  decodeDer,
  encodeDer,
  noValue,
  sequence,
  tagged,
  toInteger,
  toOctets,
  toOid,
  toSet,
  toText,
} from './der.ts'
import {
  type CertifiedKey,
  isSameAlias,
  type KeyStoreContent,
  type KeyStoreEntry,
  KeyStoreError,
  type KeyStorePasswords,
  type NewKeyStorePasswords,
  type TrustedCertificate,
} from './key-store.ts'

type Bag = forge.pkcs12.Bag
const { oids } = forge.pki

/** Iterations of the functions that derive keys from the password. Java: the same number. */
const ITERATIONS = 10_000
const SALT_SIZE = 20
/** Java: the attribute of trusted certificates, and its value: for any use. */
const TRUSTED = ['2.16.840.1.113894.746875.1.1', '2.5.29.37.0'] as const

/** Returns the entry with an alias. @throws KeyStoreError */
export function readPkcs12(bytes: Buffer, alias: string, { storePassword = '' }: KeyStorePasswords): KeyStoreEntry {
  // node-forge derives keys from the UTF-16 of such a password everywhere, and files have some from its UTF-8.
  if (/[^ -~]/.test(storePassword)) throw new KeyStoreError('characters')
  const bags = decrypt(bytes, storePassword)
  const keys = bags.filter(({ type }) => type === oids.keyBag || type === oids.pkcs8ShroudedKeyBag)
  const certificates = bags.filter(({ type }) => type === oids.certBag)
  const key = keys.find((bag, at) => isSameAlias(getName(bag) ?? String(at + 1), alias))
  if (key) {
    const certificate = certificates.find((bag) => getKeyId(bag) === getKeyId(key))
    return { privateKey: toPrivateKey(key), ...(certificate && { certificate: toCertificate(certificate) }) }
  }
  const trusted = certificates.find((bag) => isSameAlias(getName(bag) ?? '', alias))
  if (!trusted) throw new KeyStoreError('alias')
  return { certificate: toCertificate(trusted) }
}

/** Writes a store. */
export function writePkcs12({ key, trusted }: KeyStoreContent, { storePassword }: NewKeyStorePasswords): Buffer {
  const [keys, certificates] = key ? toKeyBags(key, storePassword) : [[], []]
  const bags = [...certificates, ...trusted.map(toTrustedBag)]
  const content = encodeDer(sequence(...[keys, bags].map((part) => data(encodeDer(sequence(...part))))))
  return encodeDer(sequence(toInteger(3), data(content), sign(content, storePassword)))
}

function toKeyBags(
  { alias, privateKey, certificate }: CertifiedKey,
  password: string,
): [keys: Asn1[], certificates: Asn1[]] {
  const id = createHash('sha1').update(certificate).digest()
  const attributes = [attribute(oids.friendlyName!, toText(alias)), attribute(oids.localKeyId!, toOctets(id))]
  return [
    [bag(oids.pkcs8ShroudedKeyBag!, encryptKey(privateKey, password), attributes)],
    [bag(oids.certBag!, toCertificateValue(certificate), attributes)],
  ]
}

function toTrustedBag({ alias, certificate }: TrustedCertificate): Asn1 {
  const attributes = [attribute(oids.friendlyName!, toText(alias)), attribute(TRUSTED[0], toOid(TRUSTED[1]))]
  return bag(oids.certBag!, toCertificateValue(certificate), attributes)
}

function decrypt(bytes: Buffer, password: string): readonly Bag[] {
  let file: Asn1
  try {
    file = decodeDer(bytes)
  } catch (cause) {
    throw new KeyStoreError('format', { cause })
  }
  try {
    return forge.pkcs12.pkcs12FromAsn1(file, password).safeContents.flatMap(({ safeBags }) => safeBags)
  } catch (cause) {
    const isWrongPassword = cause instanceof Error && /password|padding/i.test(cause.message)
    throw new KeyStoreError(isWrongPassword ? 'store password' : 'format', { cause })
  }
}

const getName = ({ attributes }: Bag): string | undefined => attributes.friendlyName?.[0]
const getKeyId = ({ attributes }: Bag): string | undefined => attributes.localKeyId?.[0]

/** node-forge knows RSA keys only, and leaves others as they are. */
function toPrivateKey({ key, asn1 }: Bag): Buffer {
  return encodeDer(key ? forge.pki.wrapRsaPrivateKey(forge.pki.privateKeyToAsn1(key)) : asn1)
}

function toCertificate({ cert, asn1 }: Bag): Buffer {
  return encodeDer(cert ? forge.pki.certificateToAsn1(cert) : asn1)
}

const data = (content: Buffer): Asn1 => sequence(toOid(oids.data!), tagged(toOctets(content)))

const bag = (type: string, value: Asn1, attributes: Asn1[]): Asn1 =>
  sequence(toOid(type), tagged(value), toSet(...attributes))

const attribute = (type: string, value: Asn1): Asn1 => sequence(toOid(type), toSet(value))

const toCertificateValue = (certificate: Uint8Array): Asn1 =>
  sequence(toOid(oids.x509Certificate!), tagged(toOctets(certificate)))

function encryptKey(privateKey: Uint8Array, password: string): Asn1 {
  const cipher = { format: 'der', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: password } as const
  const key = createPrivateKey({ key: Buffer.from(privateKey), format: 'der', type: 'pkcs8' })
  return decodeDer(key.export(cipher))
}

/** Returns the digest of the content with a key that is derived from the password. RFC 7292, appendix B. */
function sign(content: Buffer, password: string): Asn1 {
  const salt = randomBytes(SALT_SIZE)
  const digest = forge.md.sha256.create()
  const derived = forge.pkcs12.generateKey(
    password,
    forge.util.createBuffer(salt.toString('latin1')),
    3,
    ITERATIONS,
    digest.digestLength,
    digest,
  )
  const mac = forge.hmac.create()
  mac.start('sha256', derived)
  mac.update(content.toString('latin1'))
  const digestInfo = sequence(
    sequence(toOid(oids.sha256!), noValue()),
    toOctets(Buffer.from(mac.digest().getBytes(), 'latin1')),
  )
  return sequence(digestInfo, toOctets(salt), toInteger(ITERATIONS))
}
