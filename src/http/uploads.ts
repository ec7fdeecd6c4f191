// Files that are uploaded in multipart forms.
import { failure } from '../service/context/errors.ts'
import type { Call } from './operation.ts'

/** Names of the part with the file. Keycloak: its server reads `file`, and its documentation names `input`. */
const FILE_PARTS = ['file', 'input']

/** Returns the uploaded file of a form. */
export function findFile(parts: FormData | undefined): File | undefined {
  return FILE_PARTS.map((name) => parts?.get(name)).find((part) => part instanceof File)
}

/** Returns the uploaded file with a key or certificate, and its format. @throws invalid if either is missing */
export async function readKeyFileUpload(call: Call): Promise<{ readonly format: string; readonly file: File }> {
  const parts = await call.parts()
  const format = parts?.get('keystoreFormat')
  const file = findFile(parts)
  if (typeof format !== 'string') throw failure('invalid', 'keystoreFormat cannot be null', { form: 'error' })
  if (!file) throw failure('invalid', 'file cannot be empty', { form: 'error' })
  return { format, file }
}
