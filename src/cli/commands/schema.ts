import { documentSchema } from '../../realm-file/resources/schema.ts'

/** `regent schema`: for editors that complete and check documents. */
export function schema(): void {
  console.log(JSON.stringify(documentSchema(), null, 2))
}
