// Files that are uploaded in multipart forms.
import { failure } from '../service/context/errors.ts'
import type { Call } from './operation.ts'

/** Names of the part with the file. Keycloak: its server reads `file`, and its documentation names `input`. */
const FILE_PARTS = ['file', 'input']

/** Returns the uploaded file of a form. */
export function findFile(parts: FormData | undefined): File | undefined {
  return FILE_PARTS.map((name) => parts?.get(name)).find((part) => part instanceof File)
}

/** An uploaded file with a key or certificate. */
export interface KeyFileUpload {
  readonly format: string
  readonly file: File
  /** Returns a text of the form, such as the password of a key store. */
  readonly readText: (name: string) => string | undefined
}

/** Returns the uploaded file with a key or certificate. @throws invalid if the file or its format is missing */
export async function readKeyFileUpload(call: Call): Promise<KeyFileUpload> {
  const parts = await call.parts()
  const readText = (name: string) => {
    const text = parts?.get(name)
    return typeof text === 'string' ? text : undefined
  }
  const [format, file] = [readText('keystoreFormat'), findFile(parts)]
  if (format === undefined) throw failure('invalid', 'keystoreFormat cannot be null', { form: 'error' })
  if (!file) throw failure('invalid', 'file cannot be empty', { form: 'error' })
  return { format, file, readText }
}
