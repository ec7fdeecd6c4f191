// Converts the resources of the Keycloak provider in a Terraform state to files, and lists what the files do not contain.
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { convertState, listRealms, type OmittedPart } from '../../realm-file/terraform/convert-state.ts'
import { readState, type TerraformState } from '../../realm-file/terraform/read-state.ts'
import { assertUnoccupied, type FileFlags, writeFiles } from './import.ts'

interface TerraformStateFlags extends FileFlags {
  readonly terraformState: string
  readonly realm?: string
}

/** `regent import --terraform-state`: writes what a state declares about a realm as files. It opens no store and calls no server. */
export async function importTerraformState(url: string | undefined, flags: TerraformStateFlags): Promise<void> {
  if (url !== undefined) throw new Error('Pass a URL or --terraform-state, not both.')
  const file = flags.terraformState
  const state = readState(
    file === '-' ? 'stdin' : file,
    file === '-' ? await text(process.stdin) : await readFile(file, 'utf8'),
  )
  const realm = selectRealm(state, flags)
  const target = flags.file ?? flags.dir ?? realm
  await assertUnoccupied(target, flags)
  const { document, omittedParts, omittedSecrets } = convertState(state, realm, flags)
  await writeFiles(target, document, flags)
  const otherTypes = [...state.otherTypes].map(([type, count]) => ({
    address: type,
    reason: `of another provider: ${count}`,
  }))
  const lines = [
    ...renderParts('Not converted:', [...omittedParts, ...otherTypes]),
    ...renderParts('These secrets are left out. Add each as a variable, or pass --secrets:', omittedSecrets),
  ]
  if (lines.length) console.log(lines.join('\n'))
}

/** Returns the realm to convert: the only one of the state, or the one that `--realm` names. */
function selectRealm(state: TerraformState, { terraformState: file, realm }: TerraformStateFlags): string {
  const realms = listRealms(state)
  if (!realms.length) throw new Error(`${file} has no resources of the Keycloak provider.`)
  if (realm === undefined && realms.length > 1)
    throw new Error(`${file} has the realms ${realms.join(', ')}. Select one with --realm.`)
  if (realm !== undefined && !realms.includes(realm))
    throw new Error(`${file} has no realm ${realm}. It has ${realms.join(', ')}.`)
  return realm ?? realms[0]!
}

function renderParts(heading: string, parts: readonly OmittedPart[]): string[] {
  const lines = parts.map(({ address, attribute, reason }) =>
    attribute === undefined ? `  ${address}  ${reason}` : `  ${address}  ${attribute} ${reason}`,
  )
  return lines.length ? [heading, ...lines] : []
}
