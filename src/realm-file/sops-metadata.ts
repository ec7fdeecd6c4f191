// The `sops` block of a file that SOPS has encrypted: its recipients, the rules for encrypted values, and its MAC.
import { isList, isObject, type Json, readObject, readText } from '../kinds/json.ts'
import type { DocumentPath } from '../lib/source-position.ts'

/** The key under which SOPS writes its metadata. */
export const SOPS_BLOCK = 'sops'

/** The metadata of an encrypted file. */
export interface SopsMetadata {
  readonly recipients: readonly { readonly recipient: string; readonly encryptedDataKey: string }[]
  readonly mac: string
  /** The additional data of the MAC, as the file writes it. */
  readonly lastModified: string
  /** Whether only encrypted values are in the MAC. */
  readonly macOnlyEncrypted: boolean
  /** The rule for encrypted values, as the file writes it. */
  readonly rule: string
  /** Whether the value at a path is encrypted. Steps are keys only. */
  readonly isCovered: (keys: readonly string[]) => boolean
}

/** A part of a `sops` block that is not supported or not valid. */
export class SopsMetadataError extends Error {
  readonly path: DocumentPath

  constructor(path: DocumentPath, message: string) {
    super(message)
    this.path = [SOPS_BLOCK, ...path]
  }
}

/** Whether a document has a `sops` block. */
export function hasSopsBlock(value: Json): boolean {
  return isObject(value) && isObject(value[SOPS_BLOCK])
}

/** Whether a text is a value that SOPS has encrypted. */
export const isEncryptedText = (value: unknown): value is string =>
  typeof value === 'string' && value.startsWith(ENCRYPTED_PREFIX)

/** The beginning of each value that SOPS has encrypted. */
export const ENCRYPTED_PREFIX = 'ENC[AES256_GCM,'

/** Whether a text is an encrypted comment, which SOPS writes as an element of a list. */
export const isEncryptedComment = (value: Json): boolean => isEncryptedText(value) && value.endsWith(',type:comment]')

/** Key services and key groups of SOPS, by their fields. */
const KEY_SERVICES = { kms: 'AWS KMS', gcp_kms: 'GCP KMS', azure_kv: 'Azure Key Vault', hc_vault: 'Vault', pgp: 'PGP' }

/** Parses the `sops` block of a document. Throws SopsMetadataError for what is not supported or not valid. */
export function parseSopsMetadata(document: Json): SopsMetadata {
  const block = readObject(readObject(document)[SOPS_BLOCK])
  for (const field of ['key_groups', 'shamir_threshold'])
    if (block[field] !== undefined)
      throw new SopsMetadataError([field], 'key groups of SOPS are not supported: use one group of age recipients')
  for (const field of ['encrypted_comment_regex', 'unencrypted_comment_regex'])
    if (block[field] !== undefined)
      throw new SopsMetadataError([field], `${field} is not supported: use encrypted_regex or encrypted_suffix`)
  const [mac, lastModified] = [readText(block.mac), readText(block.lastmodified)]
  if (mac === undefined || lastModified === undefined)
    throw new SopsMetadataError([], 'the sops block has no mac or no lastmodified: encrypt the file again with sops')
  return {
    ...{ recipients: readRecipients(block.age, block), mac, lastModified },
    macOnlyEncrypted: block.mac_only_encrypted === true,
    ...parseRule(block),
  }
}

function readRecipients(age: Json | undefined, block: Readonly<Record<string, Json>>): SopsMetadata['recipients'] {
  const recipients = (isList(age) ? age : []).map((element) => {
    const { recipient, enc } = readObject(element)
    return { recipient: readText(recipient) ?? '', encryptedDataKey: readText(enc) ?? '' }
  })
  if (recipients.length) return recipients
  const services = Object.entries(KEY_SERVICES).flatMap(([field, name]) => (block[field] === undefined ? [] : [name]))
  const used = services.length ? `${services.join(' and ')} of SOPS cannot be used here` : 'the file has no recipient'
  throw new SopsMetadataError([], `${used}: add an age recipient with "sops rotate --add-age RECIPIENT"`)
}

/** A field of the block with a rule for encrypted values. */
interface SopsRule {
  readonly field: string
  /** Whether values with a matching key are encrypted, and no others; otherwise they are not. */
  readonly encrypts: boolean
  readonly createMatcher: (text: string) => (key: string) => boolean
}

const matchSuffix = (suffix: string) => (key: string) => key.endsWith(suffix)

/** The rules, in the order in which SOPS applies them. */
const RULES: readonly SopsRule[] = [
  { field: 'unencrypted_suffix', encrypts: false, createMatcher: matchSuffix },
  { field: 'encrypted_suffix', encrypts: true, createMatcher: matchSuffix },
  { field: 'unencrypted_regex', encrypts: false, createMatcher: matchExpression },
  { field: 'encrypted_regex', encrypts: true, createMatcher: matchExpression },
]

function parseRule(block: Readonly<Record<string, Json>>): Pick<SopsMetadata, 'rule' | 'isCovered'> {
  const rules = RULES.flatMap(({ field, encrypts, createMatcher }) => {
    const text = readText(block[field])
    if (!text) return []
    try {
      return [{ text: `${field}: ${text}`, encrypts, matches: createMatcher(text) }]
    } catch {
      const message = `${field} is no regular expression that is supported here: write it without extensions of Go`
      throw new SopsMetadataError([field], message)
    }
  })
  return {
    rule: rules.map(({ text }) => text).join(', ') || 'all values',
    isCovered: (keys) =>
      rules.reduce((covered, { encrypts, matches }) => {
        const isMatch = keys.some(matches)
        return encrypts ? isMatch : covered && !isMatch
      }, true),
  }
}

/** Returns a matcher for a regular expression of Go, which may begin with flags: `(?i)^secret`. */
function matchExpression(text: string): (key: string) => boolean {
  const [, flags = '', pattern = text] = /^\(\?([ims]+)\)(.*)$/s.exec(text) ?? []
  // JavaScript would read a class of POSIX as the characters of its name.
  if (pattern.includes('[:')) throw new SyntaxError('class of POSIX')
  const expression = new RegExp(pattern, `u${flags}`)
  return (key) => expression.test(key)
}
