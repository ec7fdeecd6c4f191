// The formats of `--output json`, with their schemas. `regent schema` prints them.
import { z } from 'zod'
import { drift, historyAnswer, lintFinding, note, outcome } from '../http/regent/schemas.ts'
import { FORMAT_VERSION } from '../reconcile/model/action.ts'

const formatVersion = z.literal(FORMAT_VERSION).describe('Version of this format.')
const problem = z.object({
  file: z.string().describe('File of the document.'),
  line: z.number().describe('Line in that file, from 1.'),
  column: z.number().describe('Column in that line, from 1.'),
  message: z.string().describe('What is not valid, and what to do.'),
})

/** The formats of commands by name. The version is that of all. */
export const outputFormats = {
  plan: outcome.describe('Output of regent plan, regent apply, and of plan files.'),
  drift: z
    .object({ formatVersion, drift: z.array(drift).describe('The drifted fields and objects.') })
    .describe('Output of regent drift.'),
  history: z
    .object({ formatVersion, revisions: historyAnswer.describe('The revisions, newest first.') })
    .describe('Output of regent history.'),
  validate: z
    .object({
      formatVersion,
      realms: z
        .array(
          z.object({
            realm: z.string().describe('Name of the realm.'),
            objects: z.number().describe('Number of declared objects.'),
            notes: z.array(note).describe('Notes about the realm, such as values that are not enforced.'),
          }),
        )
        .describe('The valid realms.'),
      notes: z.array(note).describe('Notes about the documents.'),
    })
    .describe('Output of regent validate for valid documents.'),
  lint: z
    .object({
      formatVersion,
      findings: z
        .array(lintFinding.extend({ realm: z.string().describe('Name of the realm.') }))
        .describe('The findings.'),
    })
    .describe('Output of regent lint.'),
  error: z
    .object({
      formatVersion,
      error: z.object({
        message: z.string().describe('The error as text: what happened, where, and what to do.'),
        status: z.number().optional().describe('HTTP status of the response. Absent if no server refused it.'),
        problems: z.array(problem).describe('Problems of documents with their positions. Empty for other errors.'),
      }),
    })
    .describe('Standard error output of a command that fails.'),
} as const

/** The name of a format. */
export type OutputFormatName = keyof typeof outputFormats

/** Returns the JSON schema of a format. */
export function createOutputSchema(name: OutputFormatName): object {
  return z.toJSONSchema(outputFormats[name], { io: 'output' })
}
