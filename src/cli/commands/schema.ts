import { createDocumentSchema } from '../../realm-file/resources/document-schema.ts'
import type { OutputFormatName } from '../output-formats.ts'

/** `regent schema`: prints the JSON schema of documents, or of the JSON that commands print. */
export async function schema(name: 'document' | OutputFormatName): Promise<void> {
  const jsonSchema =
    name === 'document' ? createDocumentSchema() : (await import('../output-formats.ts')).createOutputSchema(name)
  console.log(JSON.stringify(jsonSchema, null, 2))
}
