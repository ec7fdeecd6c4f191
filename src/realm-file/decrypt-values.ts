// Decrypts the values of a file that SOPS has encrypted, and checks the MAC over them. Formats: sops.go and aes/cipher.go of SOPS.
import { createDecipheriv, createHash, timingSafeEqual } from 'node:crypto'
import { isAlias, isMap, isScalar, isSeq, type Node, parseAllDocuments, type Scalar } from 'yaml'
import type { Json } from '../kinds/json.ts'
import { isEncryptedText, SOPS_BLOCK, type SopsMetadata } from './sops-metadata.ts'
import type { Document } from './yaml/document.ts'
import { createPositionLookup } from './yaml/locator.ts'
import { DocumentError, type DocumentProblem } from './yaml/problem.ts'

/** A file with its documents. */
export interface DocumentFile {
  readonly file: string
  readonly text: string
  readonly documents: readonly Document[]
}

/** An opened `sops` block. */
export interface OpenedSopsBlock {
  readonly metadata: SopsMetadata
  readonly dataKey: Uint8Array
}

/** A scalar of a file, with the keys on the path to it. */
interface FileScalar {
  readonly keys: readonly string[]
  readonly scalar: Scalar
}

/** Decrypts the values of a file, by their encrypted texts. Throws DocumentError for values that were changed without SOPS. */
export function decryptValues(
  { file, text }: DocumentFile,
  { metadata, dataKey, block }: OpenedSopsBlock & { readonly block: Document },
): ReadonlyMap<string, Json> {
  const problems: DocumentProblem[] = []
  const toPosition = createPositionLookup({ file, text })
  const report = (node: Node, message: string) => problems.push({ position: toPosition(node.range?.[0] ?? 0), message })
  const mac = createHash('sha512')
  if (metadata.macOnlyEncrypted) mac.update(MAC_ONLY_ENCRYPTED)
  const values = new Map<string, Json>()
  for (const { keys, scalar } of listScalars(text, report)) {
    const isCovered = metadata.isCovered(keys)
    const problem = findFormProblem(scalar, isCovered, metadata)
    const opened = isCovered && isEncryptedText(scalar.value) ? decryptText(scalar.value, keys, dataKey) : undefined
    if (problem !== undefined) report(scalar, problem)
    else if (opened === 'changed')
      report(
        scalar,
        `${keys.join('.')} cannot be decrypted, since it was changed or moved without sops: restore it from git`,
      )
    else {
      if (opened) values.set(String(scalar.value), opened.value)
      const isIncluded = (isCovered || !metadata.macOnlyEncrypted) && opened?.type !== 'comment'
      if (isIncluded) mac.update(opened?.text ?? toMacText(scalar))
    }
  }
  if (!problems.length && !isSameMac(mac.digest('hex'), metadata, dataKey))
    problems.push({
      position: block.locate([SOPS_BLOCK, 'mac']),
      message:
        'the MAC does not match: values were changed, added or removed without sops. Restore them from git, and use "sops edit"',
    })
  if (problems.length) throw new DocumentError(problems)
  return values
}

/** Returns the problem of a value that is encrypted though the rule does not cover it, or the other way around. */
function findFormProblem({ value }: Scalar, isCovered: boolean, { rule }: SopsMetadata): string | undefined {
  const isEncrypted = isEncryptedText(value)
  if (isEncrypted && !isCovered) return `the value is encrypted, and the rule of the file (${rule}) does not cover it`
  if (isEncrypted || !isCovered || value === null || value === '') return undefined
  return `the value is not encrypted, and the rule of the file (${rule}) covers it: encrypt it with "sops edit"`
}

/** Lists the scalars of all documents of a file except in `sops` blocks, in their order. Reports aliases, which SOPS never writes. */
function* listScalars(text: string, report: (node: Node, message: string) => void): Generator<FileScalar> {
  for (const { contents } of parseAllDocuments(text, { uniqueKeys: false, schema: 'core', version: '1.2' }))
    if (isMap<Scalar, Node>(contents))
      for (const { key, value } of contents.items)
        if (readKey(key) !== SOPS_BLOCK) yield* listScalarsIn(value, [readKey(key)], report)
}

function* listScalarsIn(
  node: Node | null,
  keys: readonly string[],
  report: (node: Node, message: string) => void,
): Generator<FileScalar> {
  if (isScalar(node)) yield { keys, scalar: node }
  else if (isAlias(node))
    report(node, 'an encrypted file must not have aliases: write the value out, and encrypt it again')
  else if (isSeq<Node>(node)) for (const item of node.items) yield* listScalarsIn(item, keys, report)
  else if (isMap<Scalar, Node>(node))
    for (const { key, value } of node.items) yield* listScalarsIn(value, [...keys, readKey(key)], report)
}

/** Returns a key as SOPS has it, also a merge key, which is a symbol here. */
const readKey = ({ value }: Scalar): string => (typeof value === 'symbol' ? '<<' : String(value))

/** The bytes with which SOPS begins a MAC over encrypted values only. */
const MAC_ONLY_ENCRYPTED = Buffer.from('8a3fd2ad54ce66527b1034f3d147be0b0b975b3bf44f72c6fdadec8176f27d69', 'hex')

/** A decrypted value: its type as SOPS writes it, its text in the MAC, and the value. */
interface DecryptedValue {
  readonly type: string
  readonly text: string
  readonly value: Json
}

const ENCRYPTED = /^ENC\[AES256_GCM,data:([^,]+),iv:([^,]+),tag:([^,]+),type:(\w+)\]$/

/** Decrypts a text. Returns `changed` if it is not what SOPS has written for these keys. */
function decryptText(encrypted: string, keys: readonly string[], dataKey: Uint8Array): DecryptedValue | 'changed' {
  const [, data, iv, tag, type] = ENCRYPTED.exec(encrypted) ?? []
  if (data === undefined || iv === undefined || tag === undefined || type === undefined) return 'changed'
  const text = open({ data, iv, tag }, dataKey, keys.map((key) => `${key}:`).join(''))
  return text === undefined ? 'changed' : toValue(type, text)
}

function open(
  { data, iv, tag }: { readonly data: string; readonly iv: string; readonly tag: string },
  dataKey: Uint8Array,
  additionalData: string,
): string | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', dataKey, Buffer.from(iv, 'base64'), { authTagLength: 16 })
    decipher.setAuthTag(Buffer.from(tag, 'base64'))
    decipher.setAAD(Buffer.from(additionalData))
    return Buffer.concat([decipher.update(data, 'base64'), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

/** Returns a decrypted text as the value of its type. Dates are texts, as in other documents. */
function toValue(type: string, text: string): DecryptedValue | 'changed' {
  const number = Number(text)
  switch (type) {
    case 'str':
    case 'bytes':
    case 'time':
    case 'comment':
      return { type, text, value: text }
    case 'int':
      return { type, text, value: Number.isSafeInteger(number) ? number : text }
    case 'float':
      return { type, text, value: Number.isFinite(number) ? number : text }
    case 'bool':
      return { type, text: /^t/i.test(text) ? 'True' : 'False', value: /^t/i.test(text) }
    default:
      return 'changed'
  }
}

function isSameMac(digest: string, { mac, lastModified }: SopsMetadata, dataKey: Uint8Array): boolean {
  const [, data, iv, tag] = ENCRYPTED.exec(mac) ?? []
  if (data === undefined || iv === undefined || tag === undefined) return false
  const expected = Buffer.from(open({ data, iv, tag }, dataKey, lastModified) ?? '')
  const actual = Buffer.from(digest.toUpperCase())
  return expected.length === actual.length && timingSafeEqual(expected, actual)
}

/** Returns a scalar that is not encrypted as SOPS has it in the MAC: as the type that YAML gives it, in Go's form. */
function toMacText({ value, type, source = '' }: Scalar): string {
  if (value === null) return ''
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'number' || type !== 'PLAIN') return String(value)
  return Number.isSafeInteger(value) ? String(value) : /^[-+]?\d{1,19}$/.test(source) ? source : formatFloat(value)
}

/** Formats a number without an exponent, as Go's `strconv.FormatFloat(value, 'f', -1, 64)`. */
function formatFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  const [mantissa = '', exponent] = String(value).split('e')
  if (exponent === undefined) return mantissa
  const [integer = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const digits = integer + fraction
  const point = integer.length + Number(exponent)
  const text =
    point <= 0
      ? `0.${'0'.repeat(-point)}${digits}`
      : `${digits.padEnd(point, '0').slice(0, point)}${digits.length > point ? `.${digits.slice(point)}` : ''}`
  return value < 0 ? `-${text}` : text
}
