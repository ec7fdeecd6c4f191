// Java key stores of the type JKS, version 2. Source: the documentation of `java.security.KeyStore`, and files of keytool.
//
//   store  := FEEDFEED, version (4 bytes), number of entries (4), entry*, SHA-1(password, 'Mighty Aphrodite', all before)
//   entry  := tag (4), alias, time (8), content
//   tag 1  := a key: size (4), EncryptedPrivateKeyInfo, number of certificates (4), certificate*
//   tag 2  := a trusted certificate
//   certificate := 'X.509', size (4), DER
// Texts are preceded by their size (2 bytes), and passwords are UTF-16.
import { createHash, randomBytes } from 'node:crypto'
import { decodeDer, encodeDer, noValue, readLastOctets, sequence, toOctets, toOid } from './der.ts'
import {
  type CertifiedKey,
  isSameAlias,
  type KeyStoreContent,
  type KeyStoreEntry,
  KeyStoreError,
  type KeyStorePasswords,
  type NewKeyStorePasswords,
} from './key-store.ts'

const MAGIC = 0xfeedfeed
const VERSION = 2
const [KEY, CERTIFICATE] = [1, 2]
const TYPE = 'X.509'
/** The algorithm that protects keys: the key is added (exclusive or) to digests of the password and a salt. */
const PROTECTION = '1.3.6.1.4.1.42.2.17.1.1'
const DIGEST_SIZE = 20
const TIME_SIZE = 8

interface ProtectedEntry {
  readonly alias: string
  /** EncryptedPrivateKeyInfo, as DER. Absent: a trusted certificate. */
  readonly key?: Buffer
  readonly certificates: readonly Buffer[]
}

/** Whether a file is of this type. */
export function isJks(bytes: Buffer): boolean {
  return bytes.length > 4 && bytes.readUInt32BE() === MAGIC
}

/** Returns the entry with an alias. @throws KeyStoreError */
export function readJks(
  bytes: Buffer,
  alias: string,
  { storePassword, keyPassword }: KeyStorePasswords,
): KeyStoreEntry {
  const entries = readEntries(bytes)
  if (
    storePassword !== undefined &&
    !bytes.subarray(-DIGEST_SIZE).equals(signStore(bytes.subarray(0, -DIGEST_SIZE), storePassword))
  )
    throw new KeyStoreError('store password')
  const entry = entries.find((candidate) => isSameAlias(candidate.alias, alias))
  if (!entry) throw new KeyStoreError('alias')
  const privateKey = entry.key && keyPassword !== undefined ? unprotect(entry.key, keyPassword) : undefined
  const [certificate] = entry.certificates
  return { ...(privateKey && { privateKey }), ...(certificate && { certificate }) }
}

/** Writes a store. */
export function writeJks(
  { key, trusted }: KeyStoreContent,
  { storePassword, keyPassword }: NewKeyStorePasswords,
): Buffer {
  const time = Buffer.alloc(TIME_SIZE)
  time.writeBigUInt64BE(BigInt(Date.now()))
  const head = (tag: number, alias: string) => [encodeNumber(tag), encodeText(alias.toLowerCase()), time]
  const certificate = (der: Uint8Array) => [encodeText(TYPE), encodeNumber(der.length), Buffer.from(der)]
  const encodeKey = ({ alias, privateKey, certificate: ofKey }: CertifiedKey) => {
    const protectedKey = protect(Buffer.from(privateKey), keyPassword)
    return [
      ...head(KEY, alias),
      encodeNumber(protectedKey.length),
      protectedKey,
      encodeNumber(1),
      ...certificate(ofKey),
    ]
  }
  const content = Buffer.concat([
    ...[MAGIC, VERSION, (key ? 1 : 0) + trusted.length].map(encodeNumber),
    ...(key ? encodeKey(key) : []),
    ...trusted.flatMap((entry) => [...head(CERTIFICATE, entry.alias), ...certificate(entry.certificate)]),
  ])
  return Buffer.concat([content, signStore(content, storePassword)])
}

function readEntries(bytes: Buffer): ProtectedEntry[] {
  const file = new StoreReader(bytes)
  if (file.readNumber() !== MAGIC || file.readNumber() !== VERSION) throw new KeyStoreError('format')
  const entries: ProtectedEntry[] = []
  for (let remaining = file.readNumber(); remaining > 0; remaining--) entries.push(readEntry(file))
  if (file.remaining !== DIGEST_SIZE) throw new KeyStoreError('format')
  return entries
}

function readEntry(file: StoreReader): ProtectedEntry {
  const tag = file.readNumber()
  const alias = file.readText()
  file.read(TIME_SIZE)
  if (tag === CERTIFICATE) return { alias, certificates: [readCertificate(file)] }
  if (tag !== KEY) throw new KeyStoreError('format')
  const key = file.read(file.readNumber())
  const certificates: Buffer[] = []
  for (let remaining = file.readNumber(); remaining > 0; remaining--) certificates.push(readCertificate(file))
  return { alias, key, certificates }
}

function readCertificate(file: StoreReader): Buffer {
  if (file.readText() !== TYPE) throw new KeyStoreError('format')
  return file.read(file.readNumber())
}

/** Reads the bytes of a store in order. */
class StoreReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get remaining(): number {
    return this.#bytes.length - this.#at
  }

  /** @throws KeyStoreError if there are fewer bytes: sizes are part of the file */
  read(size: number): Buffer {
    if (size > this.remaining) throw new KeyStoreError('format')
    this.#at += size
    return this.#bytes.subarray(this.#at - size, this.#at)
  }

  readNumber(): number {
    return this.read(4).readUInt32BE()
  }

  readText(): string {
    return this.read(this.read(2).readUInt16BE()).toString('utf8')
  }
}

function protect(key: Buffer, password: string): Buffer {
  const salt = randomBytes(DIGEST_SIZE)
  const content = Buffer.concat([salt, mask(key, password, salt), hash(toBytes(password), key)])
  return encodeDer(sequence(sequence(toOid(PROTECTION), noValue()), toOctets(content)))
}

function unprotect(protectedKey: Buffer, password: string): Buffer {
  const content = readContent(protectedKey)
  const salt = content.subarray(0, DIGEST_SIZE)
  const key = mask(content.subarray(DIGEST_SIZE, -DIGEST_SIZE), password, salt)
  if (!hash(toBytes(password), key).equals(content.subarray(-DIGEST_SIZE))) throw new KeyStoreError('key password')
  return key
}

function readContent(protectedKey: Buffer): Buffer {
  try {
    return readLastOctets(decodeDer(protectedKey))
  } catch (cause) {
    throw new KeyStoreError('format', { cause })
  }
}

/** Adds a stream of digests to the bytes, or removes it. */
function mask(bytes: Buffer, password: string, salt: Buffer): Buffer {
  const masked = Buffer.alloc(bytes.length)
  let digest = salt
  for (let at = 0; at < bytes.length; at++) {
    if (at % DIGEST_SIZE === 0) digest = hash(toBytes(password), digest)
    masked[at] = bytes[at]! ^ digest[at % DIGEST_SIZE]!
  }
  return masked
}

const signStore = (content: Buffer, password: string) =>
  hash(toBytes(password), Buffer.from('Mighty Aphrodite'), content)

const hash = (...parts: readonly Buffer[]) => parts.reduce((sum, part) => sum.update(part), createHash('sha1')).digest()

const toBytes = (password: string) => Buffer.from(password, 'utf16le').swap16()

function encodeNumber(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8')
  const size = Buffer.alloc(2)
  size.writeUInt16BE(bytes.length)
  return Buffer.concat([size, bytes])
}
