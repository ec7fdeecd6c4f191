import { createDocumentSchema } from '../../realm-file/resources/document-schema.ts'

/** `regent schema`: prints the JSON schema of documents. */
export function schema(): void {
  console.log(JSON.stringify(createDocumentSchema(), null, 2))
}
