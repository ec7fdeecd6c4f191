// Decrypts documents that SOPS has encrypted.
import { isList, type Json, readObject } from '../kinds/json.ts'
import type { DocumentPath } from '../lib/source-position.ts'
import { memoizeByObject } from '../lib/timing/memoize.ts'
import { AgeKeyError, decryptDataKey, type FindAgeKeys } from './age-keys.ts'
import type { DocumentFile, OpenedSopsBlock } from './decrypt-values.ts'
import {
  ENCRYPTED_PREFIX,
  hasSopsBlock,
  isEncryptedComment,
  isEncryptedText,
  parseSopsMetadata,
  SOPS_BLOCK,
  SopsMetadataError,
} from './sops-metadata.ts'
import { containsText, transformTextsByPath } from './substitute-variables.ts'
import { type DecryptedDocument, type Document, deriveDocument, markVariables } from './yaml/document.ts'
import { DocumentError, type DocumentProblem, toJsonPointer } from './yaml/problem.ts'

/**
 * Decrypts the documents of a file, if SOPS has encrypted it. The `sops` block and encrypted comments in lists are removed; all other
 * positions are those in the file. Throws DocumentError if there is no key for it, or the file was changed without SOPS.
 */
export async function decryptDocuments(file: DocumentFile, findKeys: FindAgeKeys): Promise<DecryptedDocument[]> {
  const { documents } = file
  const first = documents.find(isEncryptedDocument)
  if (!first) return [...documents]
  const plain = documents.filter((document) => !isEncryptedDocument(document))
  if (plain.length) {
    const { line } = first.locate([SOPS_BLOCK])
    const message = `the document has no sops block, though the file has one at line ${line}: encrypt the whole file with sops`
    throw new DocumentError(plain.map(({ start }) => ({ position: start, message })))
  }
  const { metadata, dataKey } = await openSopsBlock(first, findKeys)
  // Loaded on demand, since most files are not encrypted.
  const { decryptValues } = await import('./decrypt-values.ts')
  const values = decryptValues(file, { metadata, dataKey, block: first })
  return documents.map((document) => insertValues(removeSopsParts(document), values))
}

/** Whether SOPS has encrypted a document. */
export const isEncryptedDocument = memoizeByObject(({ value }: Document) => hasSopsBlock(value))

/** Returns a document without its `sops` block and the encrypted comments in its lists; a document without such a block as it is. */
export function removeSopsParts(document: Document): Document {
  if (!isEncryptedDocument(document)) return document
  const { [SOPS_BLOCK]: _, ...content } = readObject(document.value)
  if (!containsText(content, ',type:comment]')) return deriveDocument(document, content)
  return deriveDocument(document, removeComments(content), (path) => toWrittenPath(content, path))
}

/** Throws DocumentError if a document has encrypted values, which nothing has decrypted. */
export function requireDecrypted({ value, locate }: Document): void {
  const problems: DocumentProblem[] = []
  if (!containsText(value, ENCRYPTED_PREFIX)) return
  transformTextsByPath(value, (text, path) => {
    if (isEncryptedText(text))
      problems.push({
        position: locate(path),
        path: toJsonPointer(path),
        message: 'the value is encrypted by SOPS, and the document has no sops block: encrypt the whole file with sops',
      })
    return text
  })
  if (problems.length) throw new DocumentError(problems)
}

function removeComments(value: Json): Json {
  if (isList(value)) return value.filter((element) => !isEncryptedComment(element)).map(removeComments)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, removeComments(member)]))
}

/** Returns the path in the file of a path in a document without its encrypted comments. */
function toWrittenPath(content: Json, path: DocumentPath): DocumentPath {
  let value: Json | undefined = content
  return path.map((step) => {
    const elements = isList(value) ? value : undefined
    const indexes = elements?.flatMap((element, at) => (isEncryptedComment(element) ? [] : [at]))
    const written = indexes?.[Number(step)] ?? step
    value = elements ? elements[Number(written)] : readObject(value)[written]
    return written
  })
}

function insertValues(document: Document, values: ReadonlyMap<string, Json>): DecryptedDocument {
  const encrypted = new Map<string, string>()
  const value = transformTextsByPath(document.value, (text, path) => {
    const decrypted = values.get(text)
    if (decrypted === undefined) return text
    encrypted.set(toJsonPointer(path), text)
    return decrypted
  })
  return Object.assign(markVariables(document, value, encrypted.keys()), { encrypted })
}

async function openSopsBlock(document: Document, findKeys: FindAgeKeys): Promise<OpenedSopsBlock> {
  const fail = (message: string, path: DocumentPath = [SOPS_BLOCK]): never => {
    throw new DocumentError([{ position: document.locate(path), path: toJsonPointer(path), message }])
  }
  try {
    const metadata = parseSopsMetadata(document.value)
    const recipients = metadata.recipients.map(({ recipient }) => recipient).join(', ')
    const keys = await findKeys()
    if (!keys.length)
      return fail(
        `the file is encrypted for ${recipients}, and no key is set: pass it with --age-key-file or SOPS_AGE_KEY (of a RealmSource: spec.decryption)`,
      )
    const dataKey = await decryptDataKey(metadata, keys)
    return dataKey
      ? { metadata, dataKey }
      : fail(`no key that is set decrypts the file: it is encrypted for ${recipients}`)
  } catch (error) {
    if (error instanceof SopsMetadataError) return fail(error.message, error.path)
    if (error instanceof AgeKeyError) return fail(error.message)
    throw error
  }
}
